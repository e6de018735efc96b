//! Elements of an array by the number of a job in a job array.

use super::Look;
use super::model::Step;
use super::shell::commands_in;

/// The variables that have this number.
const INDEXES: [&str; 3] = ["SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID"];

/// A number for which the script's array has no element.
pub(super) fn check(look: &mut Look<'_>) {
    let asked = ["array", "J", "t"].iter().find_map(|option| look.asked(option));
    let Some((option, (first, last))) = asked.and_then(|text| Some((text.to_string(), bounds(text)?))) else { return };
    let mut found = Vec::new();
    for used in &look.model.uses {
        let Some((_, rest)) =
            look.script[used.at..].split_once('[').filter(|(name, _)| name.trim_start_matches(['$', '{']) == used.name)
        else {
            continue;
        };
        let Some(length) = length(look, &used.name) else { continue };
        let Some((index, after)) = rest.split_once(']') else { continue };
        let Some(less) = offset(look, index, 0) else { continue };
        let (last, is_guarded) = guarded(look, used.at, &used.name, length, last);
        // `${NAME[…]:-x}` says what to do without an element.
        let has_default = after.trim_start_matches(':').starts_with(['-', '=', '?', '+']);
        if has_default || is_guarded || (first >= less && last - less < length) {
            continue;
        }
        let outside = if first < less { first } else { last };
        let message = format!(
            "{} has {length} elements, numbers 0 to {}: there is none for job {outside} of {option}",
            used.name,
            length.saturating_sub(1)
        );
        found.push((used.at, message));
    }
    found.into_iter().for_each(|(at, message)| look.found(at, "array-index", message));
}

/// The last number for which a test before a place does not end the script, and whether one does so that can't be read.
fn guarded(look: &Look<'_>, at: usize, name: &str, length: usize, last: usize) -> (usize, bool) {
    let start = |step: &Step| step.command.words[0].range.start;
    let steps: Vec<&Step> = look.model.steps.iter().filter(|step| start(step) < at).collect();
    let tests = steps.iter().enumerate().filter(|(number, step)| {
        let mut after = steps[number + 1..].iter().filter(|step| !step.is_quiet() && !step.words().is_empty());
        let ends = after.next().is_some_and(|step| ["exit", "continue"].iter().any(|end| step.command.has(end)));
        let is_test = step.words().first().is_some_and(|word| word.sets().is_none());
        ends && is_test
            && step.command.words.iter().any(|word| offset(look, &word.text, 0).is_some() || word.text.contains(name))
    });
    tests.fold((last, false), |(last, is_guarded), (_, step)| {
        let test = step.command.words.windows(3).find(|words| offset(look, &words[0].text, 0) == Some(0));
        let bound = test.and_then(|words| {
            let count = words[2].text == format!("${{#{name}[@]}}");
            let bound = if count { length } else { words[2].text.parse().ok()? };
            match &*words[1].text {
                "-gt" => Some(bound),
                "-ge" => bound.checked_sub(1),
                _ => None,
            }
        });
        (bound.map_or(last, |bound| last.min(bound)), is_guarded || bound.is_none())
    })
}

/// The first and the last number of `0-7:2%4` or `1,3`.
fn bounds(text: &str) -> Option<(usize, usize)> {
    let text = text.split('%').next()?;
    let ends = text.split(',').map(|part| {
        let (part, step) = part.split_once(':').unwrap_or((part, "1"));
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (usize, usize) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        let left = to.checked_sub(from)?.checked_rem(step.trim().parse().ok()?)?;
        Some((from, to - left))
    });
    let ends: Vec<(usize, usize)> = ends.collect::<Option<_>>()?;
    Some((ends.iter().map(|(from, _)| *from).min()?, ends.iter().map(|(_, to)| *to).max()?))
}

/// The elements of `NAME=(a b c)`, if the script shows them all.
fn length(look: &Look<'_>, name: &str) -> Option<usize> {
    let mut sets = look.model.sets_of(name);
    let (set, None) = (sets.next()?, sets.next()) else { return None };
    let value = set.value.as_ref()?;
    let (start, end) = (value.first()?.range.start, value.last()?.range.end);
    let inside = look.script[start..end].strip_prefix('(')?.strip_suffix(')')?;
    let words = || commands_in(look.script, start + 1..start + 1 + inside.len()).into_iter().flat_map(|own| own.words);
    // `[7]=a` has the number 7.
    let is_plain = |text: &str| !text.contains(['$', '`', '*', '{']) && !text.contains("]=");
    words().all(|word| is_plain(&word.text)).then(|| words().count())
}

/// What is subtracted from the job's number in an index, if it is nothing else.
fn offset(look: &Look<'_>, index: &str, depth: usize) -> Option<usize> {
    let plain: String = index.chars().filter(|c| !"$(){} \"".contains(*c)).collect();
    let (name, less) = plain.split_once('-').unwrap_or((&plain, "0"));
    let less: usize = less.parse().ok()?;
    if INDEXES.contains(&name) {
        return Some(less);
    }
    let mut sets = look.model.sets_of(name);
    let (set, None, true) = (sets.next()?, sets.next(), depth < 3) else { return None };
    let value = set.value.as_ref()?;
    let text: String = value.iter().map(|piece| &look.script[piece.range.clone()]).collect();
    less.checked_add(offset(look, &text, depth + 1)?)
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::found;

    #[test]
    fn numbers_without_an_element() {
        let outside = |script: &str| found("hpu", script, &["array-index"]);
        let names = "NAMES=(a b c)\necho ${NAMES[$SLURM_ARRAY_TASK_ID]}\n";
        outside(&format!("#SBATCH --array=1-3\n{names}"));
        outside(&format!("#SBATCH -a 0-7%2\n{names}"));
        outside("#SBATCH -a 0-2\nN=('a b'\n  c)\ni=$((SLURM_ARRAY_TASK_ID - 1))\necho ${N[$i]}\n");
        outside("#PBS -J 1-2\nN=(a b)\necho \"${N[PBS_ARRAY_INDEX]}\"\n");
        outside(&format!("#SBATCH -a 0-10:5\n{names}"));
        outside(&format!("#SBATCH -a 1\n{}", names.replace("TASK_ID", &format!("TASK_ID - {}", usize::MAX))));
        let guard = |test: &str| {
            "#SBATCH -a 0-9\n".to_string()
                + &names.replacen('\n', &format!("\nif [ {test} ]; then\necho no\nexit 1\nfi\n"), 1)
        };
        let index = "$SLURM_ARRAY_TASK_ID";
        outside(&guard(&format!("{index} -gt 3")));
        outside(&guard(&format!("{index} -gt ${{#NAMES[@]}}")));
        for fine in [format!("{index} -ge 3"), format!("{index} -lt 9"), format!("{index} -gt 2")] {
            found("hpu", &guard(&fine), &[]);
        }
        found("hpu", &format!("#SBATCH --array=0-2\n{names}"), &[]);
        found("hpu", &format!("#SBATCH --array=0-3:2\n{names}"), &[]);
        found("hpu", &format!("#SBATCH --array=1-9\n{}", names.replace("(a b c)", "([1]=a [9]=b)")), &[]);
        found("hpu", &format!("#SBATCH --array=1-9\n{}", names.replace("ID]", "ID]:-x")), &[]);
        let far = format!("i=$((SLURM_ARRAY_TASK_ID - 9))\necho ${{N[$i - {}]}}\n", usize::MAX);
        found("hpu", &format!("#SBATCH -a 1\nN=(a)\n{far}"), &[]);
        found("hpu", &format!("#SBATCH --array=1-3\n{}", names.replace("TASK_ID", "TASK_ID - 1")), &[]);
        found("hpu", &format!("#SBATCH --array=1-3\n{}", names.replace("(a b c)", "($(ls))")), &[]);
        found("hpu", "#SBATCH --array=1-9\nN=(a b)\necho ${N[$((SLURM_ARRAY_TASK_ID % 2))]}\n", &[]);
    }
}
