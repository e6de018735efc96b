use super::{Fields, all, command, form, write};

fn fields(of: &[(&str, &str)]) -> Fields {
    of.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
}

fn names(of: &[(&str, &str)]) -> Vec<String> {
    form(&fields(of)).into_iter().flat_map(|group| group.fields).map(|field| field.name).collect()
}

fn script(of: &[(&str, &str)]) -> String {
    write(&fields(of)).unwrap_or_else(|problems| panic!("{problems:?}")).script
}

fn refused(of: &[(&str, &str)], field: &str, said: &str) {
    let problems = write(&fields(of)).expect_err("refused");
    let found = problems.iter().any(|problem| problem.field == field && problem.message.contains(said));
    assert!(found, "{problems:?}");
}

#[test]
fn an_empty_form_asks_for_the_program() {
    refused(&[], "entry", "is required");
    assert!(script(&[("entry", "train.py")]).contains("run python3 -u train.py"));
}

#[test]
fn fields_follow_from_target_and_site() {
    assert!(names(&[]).contains(&"lazy".to_string()));
    assert!(!names(&[("target", "ipu")]).contains(&"nodes".to_string()));
    assert!(names(&[("target", "popdist"), ("site", "alcf-pod64")]).contains(&"cache".to_string()));
    assert!(names(&[("launcher", "deepspeed")]).contains(&"gaudi_spawn".to_string()));
    assert!(names(&[("nodes", "2")]).contains(&"hosts".to_string()));
    let names = names(&[("scheduler", "slurm")]);
    assert_eq!(names.iter().filter(|name| *name == "partition").count(), 1, "{names:?}");
}

#[test]
fn what_cannot_be_read_is_said_at_its_field() {
    refused(&[("entry", "a.py"), ("nodes", "two")], "nodes", "no whole number");
    refused(&[("entry", "a.py"), ("instances", "10000")], "instances", "from 1 to 4096");
    refused(&[("entry", "a.py"), ("args", "'x")], "args", "a quote is left open");
    refused(&[("entry", "a.py"), ("port", "80")], "port", "from 1024");
    refused(&[("entry", "a.py"), ("site", "mars")], "site", "no site is called");
    refused(&[("entry", "a.py"), ("target", "tpu")], "target", "none of");
    refused(&[("entry", "a.py"), ("site", "own"), ("site-file", "name = 3")], "site-file", "line 1");
    refused(&[("entry", "a.py"), ("site", "own")], "site-file", "is required");
    refused(&[("target", "popdist"), ("entry", "a.py"), ("replicas", "0")], "replicas", "from 1");
    refused(&[("entry", "a.py"), ("distributed-key", "a b")], "distributed-key", "the key alone");
}

#[test]
fn the_key_for_several_processes_follows_the_numbers() {
    let key = ("distributed-key", "run.distributed");
    assert!(script(&[("entry", "a.py"), ("instances", "8"), key]).contains("run.distributed=True"));
    assert!(script(&[("entry", "a.py"), ("instances", "1"), key]).contains("run.distributed=False"));
    refused(&[("entry", "a.py"), ("instances", "8"), ("args", "run.distributed=False"), key], "args", "must be True");
    let said = script(&[("entry", "a.py"), ("instances", "8"), ("args", "run.distributed=True"), key]);
    assert_eq!(said.matches("run.distributed").count(), 1, "{said}");
}

#[test]
fn a_site_of_ones_own() {
    let own = "name = \"mine\"\ntitle = \"Mine\"\nstatus = \"template\"\nsource = \"here\"\ntargets = [\"hpu\"]\n\
               schedulers = [\"slurm\"]\nrequest = \"--gres=hpu:{devices}\"\n";
    let text = script(&[("entry", "a.py"), ("site", "own"), ("site-file", own), ("instances", "4")]);
    assert!(text.contains("#SBATCH --gres=hpu:4"), "{text}");
}

#[test]
fn the_command_says_the_same() {
    let check = |of: &[(&str, &str)], expected: &str| assert_eq!(command(&fields(of)), expected);
    check(&[("entry", "my train.py")], "portolan launch --target hpu --entry 'my train.py'");
    check(
        &[
            ("target", "popdist"),
            ("site", "alcf-pod64"),
            ("entry", "a.py"),
            ("replicas", "4"),
            ("cache", "/c"),
            ("args", "--lr 1"),
        ],
        "portolan launch --target popdist --entry a.py '--args=--lr 1' --site alcf-pod64 --set cache=/c --replicas 4",
    );
}

#[test]
fn every_script_of_a_target() {
    let files = all(&fields(&[("entry", "a.py"), ("venv", "v")]));
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["README.md", "setup.sh", "train-bash.sh", "train-slurm.sh", "train-pbs.sh"]);
    let without = all(&fields(&[("entry", "a.py")]));
    assert!(without[0].1.contains("## Not written\n\n- setup.sh: venv"), "{}", without[0].1);
}
