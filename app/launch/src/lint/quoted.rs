//! Quotes in a variable whose words a command gets: a shell does not read them there.

use super::Look;
use super::model::Model;
use super::shell::{Quote, expansions};

pub(super) fn check(look: &mut Look<'_>) {
    let model = look.model.clone();
    // In a text for another shell, that one reads the value.
    for step in model.steps.iter().filter(|step| !step.is_quiet() && !step.inner) {
        // These read their words as a shell does.
        let reads_again = ["eval", "ssh", "pdsh", "parallel", "watch", "su", "xargs", "-c", "--wrap"];
        if step.command.words.iter().any(|word| reads_again.contains(&&*word.text)) {
            continue;
        }
        for word in step.words().iter().filter(|word| word.pieces.iter().all(|piece| piece.quote == Quote::Bare)) {
            let name = word.variable().filter(|_| !word.text.contains('['));
            if let Some(name) = name.filter(|name| has_quotes(&model, look.script, name, word.range.start, 0)) {
                let message = format!(
                    "the quotes in ${name} become part of the arguments: a shell does not read quotes in a value; use an \
                     array: {name}=(…) and \"${{{name}[@]}}\""
                );
                look.found(word.range.start, "quotes-in-value", message);
            }
        }
    }
}

/// Whether the value of a variable has a word in quotes, or that of a variable in it.
fn has_quotes(model: &Model, script: &str, name: &str, before: usize, depth: usize) -> bool {
    let pieces = model.value(name, before).unwrap_or_default();
    pieces.iter().any(|(set, piece)| {
        let text = &script[piece.range.clone()];
        let quotes: &[&str] = match piece.quote {
            Quote::Bare => &[],
            Quote::Double => &["'", "\\\""],
            Quote::Single => &["\""],
        };
        // A word begins with it, or the value of an option does; elsewhere a program may read it.
        let opens = |(at, quote): (usize, &str)| {
            let word = text[..at].rsplit(char::is_whitespace).next().unwrap_or_default();
            let is_start = word.is_empty() || (word.starts_with("--") && word.ends_with('='));
            let is_command = text[..at].contains("$(") || text[..at].contains('`');
            is_start && !is_command && text[at + quote.len()..].contains(quote)
        };
        let inner = || expansions(text).into_iter().filter(|_| piece.quote == Quote::Double && depth < 3);
        quotes.iter().any(|quote| text.match_indices(quote).any(opens))
            || inner().any(|(_, name, _)| has_quotes(model, script, name, *set, depth + 1))
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::found;

    #[test]
    fn quotes_that_stay() {
        let stay = |script: &str| found("hpu", script, &["quotes-in-value"]);
        stay("C=\"python t.py --data './a b'\"\nmpiexec -n 2 $C\n");
        stay("A='--name=\"a b\"'\npython t.py ${A}\n");
        stay("A=\"--name \\\"a\\\"\"\nC=\"python t.py $A\"\n$C | tee x\n");
        for fine in [
            "C=\"python t.py --data './a b'\"\neval $C\neval \"$C\"\nsrun bash -c \"$C\"\nsrun bash -c \"x $C\"\necho $C\nssh x $C\n",
            "C=(python t.py 'a b')\n\"${C[@]}\"\n${C[@]}\n",
            "A=\"$(awk 'x' y)\"\npython t.py $A\n",
            "A=\"it's one\"\npython t.py $A\n",
            "A='{\"a\": 1}'\npython t.py --set \"$A\" x.y=$A\n",
            "A='name=\"x\" [\"a\",\"b\"]'\npython t.py $A\n",
        ] {
            found("hpu", fine, &[]);
        }
    }
}
