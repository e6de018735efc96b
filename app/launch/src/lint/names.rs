//! The names in `given.txt` and `schedulers/`: lines of a kind and words.

/// Variables that a script need not set.
const GIVEN: &str = include_str!("given.txt");
const SLURM: &str = include_str!("schedulers/slurm.txt");
const PBS: &str = include_str!("schedulers/pbs.txt");
const HAND: &str = include_str!("schedulers/names.txt");

fn of<'t>(lists: &[&'t str], kind: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
    let lists: Vec<&str> = lists.to_vec();
    lists.into_iter().flat_map(str::lines).filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '))
}

/// The names of a kind that a shell, a login, a scheduler or a site gives a value to.
pub(super) fn given(kind: &'static str) -> impl Iterator<Item = &'static str> {
    of(&[GIVEN], kind)
}

/// How a scheduler spells an option: the long name, or PBS's letter, and whether a value follows.
pub(super) fn slurm_option(name: &str) -> Option<(&'static str, bool)> {
    let long = |line: &'static str| {
        let long = line.split(' ').next().unwrap_or_default();
        long.strip_suffix('=').map_or((long, false), |long| (long, true))
    };
    let all = || of(&[SLURM], "option");
    let same = of(&[HAND], "same").find_map(|line| line.split_once(' ').filter(|(own, _)| *own == name));
    let name = same.map_or(name, |(_, known)| known);
    let whole = all().find(|line| long(line).0 == name || line.split(' ').nth(1) == Some(name)).map(long);
    whole.or_else(|| {
        // As getopt does, an option may be shortened.
        let mut begun = all().map(long).filter(|(long, _)| name.len() > 1 && long.starts_with(name));
        begun.next().filter(|_| begun.next().is_none())
    })
}

/// The option of Slurm that is spelled nearly so, or has replaced it.
pub(super) fn near_option(name: &str) -> Option<&'static str> {
    let gone = of(&[HAND], "gone").find_map(|line| line.split_once(' ').filter(|(own, _)| *own == name));
    if let Some((_, successor)) = gone {
        return Some(successor);
    }
    let all = of(&[SLURM], "option").map(|line| line.split(['=', ' ']).next().unwrap_or_default());
    let near = all.filter(|own| own.len() > 4).map(|own| (super::spelling::distance(name, own), own)).min();
    near.filter(|(distance, _)| *distance <= 2 && distance * 3 <= name.len()).map(|(_, own)| own)
}

/// Whether a word is an option of Slurm without a value.
pub(super) fn stands_alone(word: &str) -> bool {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|letter| letter.len() == 1));
    name.and_then(slurm_option).is_some_and(|(_, takes)| !takes)
}

/// Whether a value follows the letter of an option of `qsub`; none if it is no option.
pub(super) fn pbs_option(letter: &str) -> Option<bool> {
    of(&[PBS], "option").find_map(|line| {
        let (own, takes) = line.strip_suffix('=').map_or((line, false), |own| (own, true));
        (own == letter).then_some(takes)
    })
}

/// The variables of a job, with the options by which alone they are set.
pub(super) fn of_jobs() -> impl Iterator<Item = (&'static str, &'static str)> {
    of(&[HAND, SLURM, PBS], "job").map(|line| line.split_once(' ').unwrap_or((line, "")))
}

/// What a variable numbers that differs between the processes of a launcher: `task`, `local` or `node`.
pub(super) fn rank(name: &str) -> Option<&'static str> {
    of(&[HAND], "rank").find_map(|line| line.split_once(' ').filter(|(_, own)| *own == name).map(|(what, _)| what))
}

/// Whether a program starts a command in several processes.
pub(super) fn starts(program: &str) -> bool {
    of(&[HAND], "starts").any(|own| own == program)
}

/// Whether processes of a scheduler's own starter can get their ranks from a source; none if it is another program.
pub(super) fn tells(program: &str, source: &str) -> Option<bool> {
    let mut told = of(&[HAND], "tells").map(|line| line.split(' '));
    told.find_map(|mut words| (words.next() == Some(program)).then(|| words.any(|own| own == source)))
}

/// The variables from which a program reads ranks, if its source of them is variables.
pub(super) fn of_source(source: &str) -> Option<Vec<&'static str>> {
    let mut all = of(&[HAND], "source").map(|line| line.split(' '));
    all.find_map(|mut words| (words.next() == Some(source)).then(|| words.collect()))
}

/// The options of a program that starts the processes of one machine: machines, processes, this machine's number, and
/// where the machines meet.
pub(super) fn machine(program: &str) -> Option<[&'static str; 4]> {
    of(&[HAND], "machine").find_map(|line| {
        let (name, options) = line.split_once(' ')?;
        let options: Vec<&str> = options.split(' ').collect();
        options.try_into().ok().filter(|_| name == program)
    })
}

/// The option by which a program starts several processes on its machine.
pub(super) fn processes(program: &str) -> Option<&'static str> {
    let own = || of(&[HAND], "local").find_map(|line| line.split_once(' ').filter(|(name, _)| *name == program));
    machine(program).map(|[_, option, ..]| option).or_else(|| own().map(|(_, option)| option))
}

/// Whether an option of Slurm brings cores along that no task requests.
pub(super) fn brings_cores(option: &str) -> bool {
    of(&[HAND], "cores").any(|own| own == option)
}

/// Whether programs read a variable that no scheduler sets.
pub(super) fn read_by_programs(name: &str) -> bool {
    of(&[HAND], "reads").any(|own| own == name || (own.ends_with('_') && name.starts_with(own)))
}

/// Whether a word names what starts processes on other machines itself: a program, its option, its file.
pub(super) fn spreads(word: &str) -> bool {
    word.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| of(&[HAND], "spreads").any(|own| own == part))
}

/// Whether a command only shows or tests its words.
pub(super) fn is_quiet(program: &str) -> bool {
    of(&[HAND], "quiet").any(|own| own == program)
}

/// Whether a program only takes a few seconds.
pub(super) fn is_short(program: &str) -> bool {
    of(&[HAND], "short").any(|own| own == program)
}

/// Whether a file that is sourced only sets up a Python environment.
pub(super) fn activates(file: &str) -> bool {
    of(&[HAND], "activates").any(|own| own == file)
}

/// Whether a module has a Python of its own.
pub(super) fn brings_python(module: &str) -> bool {
    of(&[HAND], "python").any(|own| own.eq_ignore_ascii_case(module))
}

/// Whether an option of Slurm may bring devices along, without their number for a machine.
pub(super) fn selects_devices(option: &str) -> bool {
    of(&[HAND], "selects").any(|own| own == option)
}

/// Whether a resource of PBS is the number of devices on each machine.
pub(super) fn is_resource(name: &str) -> bool {
    of(&[HAND], "resource").any(|own| own == name)
}

/// Parts of the names of programs' options for devices.
pub(super) fn of_devices() -> impl Iterator<Item = &'static str> {
    of(&[HAND], "device")
}

/// Whether the shell or programs read a variable that a script may take for a name of its own.
pub(super) fn is_taken(name: &str) -> bool {
    of(&[HAND], "taken").any(|own| own == name)
}

/// Whether a name says that it has to be filled in.
pub(super) fn is_to_fill(name: &str) -> bool {
    of(&[HAND], "fill").any(|own| own.eq_ignore_ascii_case(name))
}

/// Whether a program runs a command in a container.
pub(super) fn contains(program: &str) -> bool {
    of(&[HAND], "contains").any(|own| own == program)
}

/// Whether a program opens an interactive shell by its command `shell`.
pub(super) fn opens(program: &str) -> bool {
    of(&[HAND], "opens").any(|own| own == program)
}

/// Options of directives that request devices, and whether for each machine.
pub(super) fn device_options() -> impl Iterator<Item = (&'static str, bool)> {
    of(&[HAND], "devices").filter_map(|line| line.split_once(' ')).map(|(option, of)| (option, of == "node"))
}
