use super::{Fields, OPTIONS, all, command, field_of, form, put, write};
use crate::read_site;
use crate::target::Target;

fn fields(of: &[(&str, &str)]) -> Fields {
    of.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
}

fn names_of(of: &[(&str, &str)]) -> Vec<String> {
    form(&fields(of), &read_site).into_iter().flat_map(|group| group.fields).map(|field| field.name).collect()
}

fn script(of: &[(&str, &str)]) -> String {
    write(&fields(of), &read_site).unwrap_or_else(|problems| panic!("{problems:?}")).script
}

fn refused(of: &[(&str, &str)], field: &str, said: &str) {
    let problems = write(&fields(of), &read_site).expect_err("refused");
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
    assert!(names_of(&[]).contains(&"lazy".to_string()));
    assert!(!names_of(&[("target", "ipu")]).contains(&"nodes".to_string()));
    assert!(names_of(&[("target", "popdist"), ("site", "alcf-pod64")]).contains(&"cache".to_string()));
    assert!(names_of(&[("launcher", "deepspeed")]).contains(&"gaudi_spawn".to_string()));
    assert!(names_of(&[("nodes", "2")]).contains(&"hosts".to_string()));
    let names = names_of(&[("scheduler", "slurm")]);
    assert_eq!(names.iter().filter(|name| *name == "partition").count(), 1, "{names:?}");
}

#[test]
fn what_cannot_be_read_is_said_at_its_field() {
    refused(&[("entry", "a.py"), ("nodes", "two")], "nodes", "not a whole number");
    refused(&[("entry", "a.py"), ("instances", "200000")], "instances", "from 1 to 131072");
    refused(&[("entry", "a.py"), ("args", "'x")], "args", "a quote is not closed");
    refused(&[("entry", "a.py"), ("nodes", "-4")], "nodes", "`-4` is not a whole number from 1 to 131072");
    refused(&[("entry", "a.py"), ("port", "80")], "port", "from 1024");
    refused(&[("entry", "a.py"), ("port", "high")], "port", "`high` is not a whole number from 1024 to 65535");
    refused(&[("entry", "a.py"), ("site", "mars")], "site", "unknown site");
    refused(&[("entry", "a.py"), ("target", "tpu")], "target", "not one of");
    refused(&[("entry", "a.py"), ("site", "own"), ("site-file", "name = 3")], "site-file", "line 1");
    refused(&[("entry", "a.py"), ("site", "own")], "site-file", "is required");
    refused(&[("target", "popdist"), ("entry", "a.py"), ("replicas", "0")], "replicas", "from 1");
    refused(&[("entry", "a.py"), ("distributed-key", "a b")], "distributed-key", "only the key");
    let apart = [("target", "popdist"), ("entry", "a.py"), ("alone", "on"), ("instances", "2"), ("replicas", "2")];
    let paths = ["poplar", "popart", "cache"].map(|name| (name, "x"));
    refused(&[&apart[..], &paths].concat(), "instances", "the program does not use PopDist");
    refused(&[("target", "rdu"), ("entry", "a.py"), ("alone", "on")], "entry", "the program does not read SambaFlow's");
}

/// A path in any field of any target may begin with `~/`: a shell would not expand it in quotes, or after `./`.
#[test]
fn a_path_in_the_home_folder() {
    let base = [("entry", "a.py"), ("venv", "v"), ("results", "out"), ("cache", "c"), ("poplar", "p"), ("popart", "q")];
    let not_paths = ["target", "site", "script", "scheduler", "args"];
    let mut written = 0;
    for target in Target::all() {
        for which in ["train", "setup", "collect"] {
            let own = [&base[..], &[("target", target.name()), ("script", which)]].concat();
            for name in names_of(&own).iter().filter(|name| !not_paths.contains(&&***name)) {
                let of = [&own[..], &[(name, "~/a b")]].concat();
                let Ok(done) = write(&fields(&of), &read_site) else { continue };
                written += 1;
                let mut code = done.script.lines().filter(|line| !line.trim_start().starts_with('#'));
                assert!(code.all(|line| !line.contains('~')), "{target:?} {name}\n{}", done.script);
            }
        }
    }
    assert!(written > 40, "{written}");
    let ipu = [&base[..], &[("target", "ipu"), ("cache", "~/cache")]].concat();
    let said = script(&ipu);
    assert!(
        said.contains("POPTORCH_CACHE_DIR=\"${HOME}/cache\"") && said.contains("mkdir -p -- \"${HOME}/cache\""),
        "{said}"
    );
    let own = script(&[
        ("entry", "a.py"),
        ("env", "DATA=~/data"),
        ("checkpoints", "~/out/*.ckpt"),
        ("resume-key", "--resume"),
    ]);
    assert!(own.contains("DATA=\"${HOME}/data\"") && own.contains("newest \"${HOME}/out\" '*.ckpt'"), "{own}");
    refused(&[("entry", "~jane/a.py")], "entry", "may begin with ~/ only");
    let passed = write(&fields(&[("entry", "a.py"), ("args", "--data ~/d")]), &read_site).expect("a script");
    assert!(passed.script.contains("a.py --data '~/d'"), "{}", passed.script);
    assert!(passed.plan.notes.iter().any(|note| note.contains("the argument ~/d is passed unchanged")));
}

/// A product of two numbers is reported at both, so also at the one that was changed last.
#[test]
fn a_product_is_reported_at_its_factors() {
    let ipu = [("target", "ipu"), ("entry", "a.py"), ("poplar", "p"), ("popart", "q"), ("cache", "c")];
    for (replicas, each, at) in [("8", "3", &["replicas", "devices-per-replica"][..]), ("3", "1", &["replicas"])] {
        let of = [&ipu[..], &[("replicas", replicas), ("devices-per-replica", each)]].concat();
        let problems = write(&fields(&of), &read_site).expect_err("refused");
        let mut found: Vec<&str> = problems.iter().map(|problem| &*problem.field).collect();
        sorting::plain(&mut found);
        let mut at = at.to_vec();
        sorting::plain(&mut at);
        assert_eq!(found, at);
    }
}

/// A site without a scheduler explains how to describe one; the guide's example is a site file.
#[test]
fn a_scheduler_of_ones_own() {
    let help = |of: &[(&str, &str)]| {
        let all = form(&fields(of), &read_site).into_iter().flat_map(|group| group.fields);
        all.filter(|field| field.name == "scheduler").map(|field| field.help).collect::<String>()
    };
    assert!(help(&[("target", "ipu")]).contains("choose “Your own site file”"));
    assert_eq!(help(&[("target", "hpu")]), "");
    let guide = include_str!("../../../../guides/launching.md");
    let own = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let paths = [("site", "own"), ("site-file", own), ("scheduler", "slurm"), ("cache", "/c"), ("entry", "a.py")];
    let text = script(&[&paths[..], &[("target", "popdist"), ("instances", "2"), ("replicas", "4")]].concat());
    assert!(text.contains("#SBATCH --ipus=4") && text.contains("\"--vipu-partition=slurm_${SLURM_JOB_ID}\""), "{text}");
}

/// The target's own loader gives every replica a batch; another reader gives each process one.
#[test]
fn samples_of_a_reader_of_the_programs_own() {
    let of = [("target", "popdist"), ("entry", "a.py"), ("instances", "2"), ("replicas", "4"), ("batch", "8")];
    let of = [&of[..], &[("site", "tamu-aces"), ("cache", "/c")]].concat();
    assert!(script(&of).contains("8 samples × 1 micro-batch × 4 replicas = 32 samples per step"));
    let own = [&of[..], &[("shared-batch", "base.py:3")]].concat();
    assert!(script(&own).contains("8 samples × 1 micro-batch × 2 instances = 16 samples per step"), "{}", script(&own));
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
    let check = |of: &[(&str, &str)], expected: &str| assert_eq!(command(&fields(of), &read_site), expected);
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
    let files = all(&fields(&[("entry", "a.py"), ("venv", "v"), ("select", "none")]), &read_site);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["README.md", "setup-hpu.sh", "train-hpu.sh", "train-hpu-slurm.sh", "train-hpu-pbs.sh"]);
    assert!(files[0].1.contains("- collect-hpu.sh: results is required"), "{}", files[0].1);
    let without = all(&fields(&[("entry", "a.py")]), &read_site);
    assert!(without[0].1.contains("## Not written\n\n- setup-hpu.sh: venv"), "{}", without[0].1);
}

#[test]
fn a_script_has_one_name() {
    let check = |script: &str, scheduler: &str, expected: &str| {
        let of = [("script", script), ("scheduler", scheduler), ("entry", "a.py"), ("venv", "v"), ("results", "out")];
        let of = fields(&of);
        let written = write(&of, &read_site).unwrap();
        assert_eq!(written.file, expected);
        assert!(written.script.contains(&format!(" {expected}\n")), "{}", written.script);
        assert!(all(&of, &read_site).contains(&(expected.to_string(), written.script)), "{expected}");
    };
    check("setup", "slurm", "setup-hpu.sh");
    check("collect", "", "collect-hpu.sh");
    check("train", "", "train-hpu.sh");
    check("train", "slurm", "train-hpu-slurm.sh");
}

/// A site that only has Slurm still has its environment created without it.
#[test]
fn setting_up_and_collecting_need_no_job() {
    let gaudi = [("target", "hpu"), ("site", "tamu-aces-gaudi"), ("venv", "v"), ("results", "out"), ("entry", "a.py")];
    let files = all(&fields(&gaudi), &read_site);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["README.md", "setup-hpu.sh", "collect-hpu.sh"]);
    assert!(files[0].1.contains("train-hpu-slurm.sh: gres is required"), "{}", files[0].1);
    assert!(!files[1].1.contains("#SBATCH"), "{}", files[1].1);
    let shown = names_of(&[("script", "collect"), ("target", "ipu"), ("site", "alcf-pod64")]);
    assert!(!shown.contains(&"cache".to_string()) && !shown.contains(&"scheduler".to_string()), "{shown:?}");
}

#[test]
fn what_arguments_say_goes_before_the_code() {
    let key = [("entry", "a.py"), ("batch-key", "run.batch")];
    let with = |more: &[(&str, &str)]| script(&[&key[..], more].concat());
    assert!(with(&[("args", "run.batch=16")]).contains("# 16 samples × 1 micro-batch × 1 card = 16 samples"));
    let from_code = [("args", "run.batch=16"), ("batch", "2"), ("batch-from", "a.py:3")];
    assert!(with(&from_code).contains("# 16 samples") && !with(&from_code).contains("a.py:3"));
    refused(&[key[0], key[1], ("args", "run.batch=16"), ("batch", "2")], "batch", "is 2 here");
    let known =
        [("batch", "2"), ("accumulation", "4"), ("accumulation-from", "a.py:4"), ("accumulation-key", "run.more")];
    let known = with(&known);
    assert!(known.contains("# accumulation 4, from a.py:4") && !known.contains("run.more="), "{known}");
    let accumulated = with(&[("batch", "2"), ("accumulation-key", "run.accumulate"), ("accumulation", "4")]);
    assert!(accumulated.contains("run.batch=2 run.accumulate=4"), "{accumulated}");
}

#[test]
fn a_batch_that_is_written_anew_is_not_the_codes() {
    let mut fields = fields(&[("batch", "2"), ("batch-from", "a.py:3"), ("lazy", "on")]);
    put(&mut fields, "batch", "4".into(), &read_site);
    put(&mut fields, "launcher", String::new(), &read_site);
    put(&mut fields, "lazy", String::new(), &read_site);
    assert_eq!(fields, [("batch".to_string(), "4".to_string())].into());
}

#[test]
fn releases_of_gaudi() {
    let mode = |sdk: &str| script(&[("entry", "a.py"), ("sdk", sdk)]);
    assert!(mode("1.8").contains("PT_HPU_LAZY_MODE=2\n"));
    assert!(mode("1.11.0").contains("PT_HPU_LAZY_MODE=2\n"));
    assert!(mode("1.13.0").contains("PT_HPU_LAZY_MODE=0\n"));
    assert!(mode("1.24").contains("PT_HPU_LAZY_MODE=0\n"));
    refused(&[("entry", "a.py"), ("sdk", "1.12.0")], "sdk", "no value of PT_HPU_LAZY_MODE");
    refused(&[("entry", "a.py"), ("sdk", "new")], "sdk", "a release such as");
    assert!(script(&[("entry", "a.py"), ("sdk", "1.12.0"), ("lazy", "on")]).contains("PT_HPU_LAZY_MODE=1\n"));
}

#[test]
fn wall_times() {
    let with = |scheduler: &str, time: &str| {
        let select = ("select", "ngpus=8");
        write(&fields(&[("entry", "a.py"), ("scheduler", scheduler), ("time", time), select]), &read_site).is_ok()
    };
    for good in ["00:30:00", "1:00:00", "100:00:00"] {
        assert!(with("slurm", good) && with("pbs", good), "{good}");
    }
    assert!(with("slurm", "2-12:00:00") && !with("pbs", "2-12:00:00"));
    for bad in
        ["1 hour", "30", "00:60:00", "00:00:00", "1:2:3", "-1:00:00", "1:00:00\n#SBATCH --wrap=id", "99999:00:00"]
    {
        assert!(!with("slurm", bad) && !with("pbs", bad), "{bad}");
    }
}

/// Every value that a link can contain is in a form, so the command next to the script contains it too.
#[test]
fn every_option_is_a_field_of_some_form() {
    let mut shown = sorting::SortedSet::new();
    for target in ["hpu", "rdu", "ipu", "popdist"] {
        for (site, nodes, scheduler) in [("", "1", "slurm"), ("own", "2", "")] {
            shown.extend(names_of(&[("target", target), ("site", site), ("nodes", nodes), ("scheduler", scheduler)]));
        }
    }
    let missing: Vec<_> = OPTIONS.iter().filter(|name| !shown.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A program that joins under a condition gets its argument, or there is no script.
#[test]
fn what_joins_is_said() {
    let of = |more: &[(&'static str, &'static str)]| {
        let mut all =
            vec![("entry", "a.py"), ("instances", "8"), ("launcher", "torchrun"), ("join-args", "--dist-url=env://")];
        all.extend(more);
        all
    };
    assert!(script(&of(&[])).contains(" a.py --dist-url=env://"));
    assert!(script(&of(&[("args", "--dist-url env://")])).contains(" a.py --dist-url env://\n"));
    assert!(!script(&[("entry", "a.py"), ("join-args", "--dist-url=env://")]).contains("dist-url"));
    refused(&of(&[("args", "--dist-url=tcp://h:1")]), "args", "`--dist-url` must be env://");
    let spawns = [("spawn-key", "--spawn"), ("args", "--spawn --lr 1")];
    refused(&of(&spawns), "args", "each of the 8 processes would start more");
}

/// Variables of a site's module are available in each of the scripts, which use a login shell.
#[test]
fn modules_of_a_site() {
    let of = |more: &[(&'static str, &'static str)]| {
        let mut all = vec![("target", "xpu"), ("site", "alcf-aurora"), ("filesystems", "home"), ("entry", "a.py")];
        all.extend([("account", "a"), ("time", "01:00:00")]);
        all.extend(more);
        script(&all)
    };
    for text in [of(&[]), of(&[("script", "setup"), ("venv", "env")]), of(&[("script", "collect"), ("results", "out")])]
    {
        assert!(text.starts_with("#!/bin/bash -l\n") && text.contains("\nrun module load frameworks\n"), "{text}");
    }
    // qsub accepts no job without these; without a scheduler they are not required.
    let pbs = [("target", "xpu"), ("site", "alcf-aurora"), ("entry", "a.py"), ("filesystems", "home")];
    refused(&[&pbs[..], &[("account", "a")]].concat(), "time", "is required");
    refused(&[&pbs[..], &[("time", "01:00:00")]].concat(), "account", "is required");
    assert!(
        script(&[("target", "xpu"), ("site", "alcf-aurora"), ("entry", "a.py"), ("scheduler", "bash")])
            .contains("bash -l")
    );
    // One machine has the same launcher as several.
    assert!(of(&[("instances", "8")]).contains("run mpiexec --pmi=pmix --envall -n 8 --ppn 8 "));
    refused(&[("target", "xpu"), ("entry", "a.py"), ("scheduler", "slurm")], "gres", "is required");
    let arrays =
        [("scheduler", "slurm"), ("entry", "a.py"), ("array", "0-3"), ("checkpoints", "o"), ("resume-key", "--r")];
    refused(&arrays, "checkpoints", "the newest checkpoint of any of them");
}

/// The launcher provides the ranks that the processes read, or a different launcher is used, or there is no script.
#[test]
fn a_launcher_that_joins() {
    let of = |joined: &'static str, more: &[(&'static str, &'static str)]| {
        let mut all = vec![("target", "hpu"), ("entry", "a.py"), ("instances", "8"), ("joined-by", joined)];
        all.extend(more);
        all
    };
    let one = "8 processes, one training run\n";
    for (joined, start) in [
        ("mpi", "run mpirun -n 8 "),
        ("environment", "run torchrun "),
        ("spawn", "run python3 -u a.py\n"),
        ("lightning", "run python3 -u a.py\n"),
    ] {
        let text = script(&of(joined, &[]));
        assert!(text.contains(start) && text.contains(one) && !text.contains("--mpi"), "{text}");
    }
    let either = "environment,open-mpi:--mpi";
    assert!(script(&of(either, &[("launcher", "mpirun")])).contains(" a.py --mpi\n"));
    assert!(!script(&of(either, &[("launcher", "torchrun")])).contains("--mpi"));
    let xpu = [("target", "xpu"), ("entry", "a.py"), ("instances", "8"), ("joined-by", "mpi")];
    assert!(script(&xpu).contains("run mpiexec -n 8 "));
    refused(&of("mpi", &[("launcher", "torchrun")]), "launcher", "would train separately; use mpirun");
    refused(&of("environment", &[("launcher", "mpirun")]), "launcher", "use torchrun or srun or deepspeed");
    refused(&of("spawn", &[("launcher", "torchrun")]), "launcher", "use program");
    // A program that was not analysed, and one that was analysed without a result.
    assert!(
        script(&[("entry", "a.py"), ("instances", "8")])
            .contains("8 processes, one training run if the program is distributed\n")
    );
    assert!(script(&of("unread", &[])).contains("8 processes; no distributed training was found in the program"));
    // The Trainer starts the configured number.
    let trainer = of("lightning", &[("launcher", "lightning"), ("devices-key", "trainer.devices")]);
    assert!(script(&trainer).contains(" a.py trainer.devices=8\n"));
    refused(
        &of("lightning", &[("devices-key", "=2 a.py:4")]),
        "instances",
        "uses 2 cards (a.py:4), but this launch uses 8: change it to devices=8",
    );
}

/// SambaFlow's arguments come before `--`, the program's own after it, at compile and at run.
#[test]
fn a_divided_command_line() {
    let fields = [
        ("target", "rdu"),
        ("entry", "a.py"),
        ("divided", "on"),
        ("ahead", "--image-shape"),
        ("args", "run.compute_mode=RDU --image-shape 3 224 -1 --lr 1"),
        ("batch", "4"),
        ("batch-key", "--batch-size"),
        ("distributed-key", "run.distributed"),
    ];
    let own = "--image-shape 3 224 -1 -- run.compute_mode=RDU --lr 1 run.distributed=False --batch-size=4";
    let script = script(&fields).replace(" \\\n ", "");
    assert!(script.contains(&format!("compile -b=4 --pef-name=model --output-folder=out {own}\n")), "{script}");
    assert!(script.contains(&format!("run -b=4 --pef=out/model/model.pef {own}\n")), "{script}");
}

#[test]
fn a_command_line_that_the_user_has_divided() {
    let check = |args: &str, expected: &str| {
        let fields = [("target", "rdu"), ("entry", "a.py"), ("divided", "on"), ("ahead", "--shape"), ("args", args)];
        let script = script(&fields).replace(" \\\n ", "");
        assert!(script.contains(&format!("--output-folder=out {expected}\n")), "{script}");
    };
    check("--num-tiles 4 -- --lr 1 --shape 3", "--num-tiles 4 -- --lr 1 --shape 3");
    check("-- --lr 1 -- x", "-- --lr 1 -- x");
    check("--lr 1", "-- --lr 1");
}

/// The command and the form report the same about a value of `--set`.
#[test]
fn every_common_field_is_in_some_form_with_a_help() {
    let lacking = Target::all().flat_map(|target| {
        let helps = move |name: &&str| {
            field_of(target, name).is_some_and(|field| !field.label.is_empty() && !field.help.is_empty())
        };
        let contained = !target.table().container.is_empty();
        let is_asked = move |name: &&str| contained || !matches!(*name, "container" | "image");
        tables::COMMON
            .into_iter()
            .filter(is_asked)
            .filter(move |name| !helps(name))
            .map(move |name| format!("{name} of {}", target.name()))
    });
    assert_eq!(lacking.collect::<Vec<_>>(), Vec::<String>::new());
}

/// Words that a user adds to a launcher's command, or to the compile command only.
#[test]
fn words_for_a_launcher() {
    let of = |target: &'static str, words: &'static str| {
        let paths = ["poplar", "popart", "cache"].map(|name| (name, "x")).to_vec();
        let own = [("target", target), ("entry", "a.py"), ("instances", "2"), ("launcher_args", words)];
        let more = if target == "popdist" { [&[("replicas", "4")], &paths[..]].concat() } else { Vec::new() };
        [&own[..], &more].concat()
    };
    let written = |of: &[(&str, &str)]| script(of).replace(" \\\n ", "");
    let all = of("popdist", "--print-topology=yes --only-output-from-instance 0 --mpi-global-args='--tag-output -x A'");
    let words = "--print-topology=yes --only-output-from-instance 0 '--mpi-global-args=--tag-output -x A' python3";
    assert!(written(&all).contains(words), "{}", written(&all));
    assert!(command(&fields(&all), &read_site).contains("--set 'launcher_args=--print-topology=yes "));
    // An option that the script repeats may be repeated.
    assert!(written(&of("hpu", "-x A --mca b c")).contains(" -x MASTER_PORT -x A --mca b c python3 -u a.py"));
    assert!(written(&of("rdu", "-l")).contains("mpirun -np 2 -l python a.py run "));
    let torchrun = [&of("hpu", "--log-dir '$SCRATCH/a b'")[..], &[("launcher", "torchrun")]].concat();
    assert!(written(&torchrun).contains(" --log-dir \"${SCRATCH}/a b\" a.py\n"));
    for (target, words, said) in [
        ("popdist", "--num-replicas=2", "must leave out --num-replicas"),
        ("popdist", "-vv", "must leave out -vv"),
        ("hpu", "--report-bindings -np 4", "must leave out -np"),
        ("hpu", "-x 'A", "must close every quote"),
        ("hpu", "numactl -l", "must begin with an option"),
    ] {
        refused(&of(target, words), "launcher_args", said);
    }
    let torchrun = [&of("hpu", "--nproc-per-node=2")[..], &[("launcher", "torchrun")]].concat();
    refused(&torchrun, "launcher_args", "must leave out --nproc-per-node");
    refused(
        &[("entry", "a.py"), ("launcher_args", "-x A")],
        "launcher_args",
        "a command that this script does not have",
    );
    // Only the compile command gets these.
    let compile = [("target", "rdu"), ("entry", "a.py"), ("args", "--lr 1"), ("compile_args", "--mac-v2")];
    assert!(written(&compile).contains("compile --pef-name=model --output-folder=out --mac-v2 --lr 1\n"));
    assert!(written(&compile).contains("run --pef=out/model/model.pef --lr 1\n"));
    refused(
        &[&compile[..], &[("compiled", "on")]].concat(),
        "compile_args",
        "a command that this script does not have",
    );
}

/// Settings of the user's go on with those of the script, which are one JSON object.
#[test]
fn settings_of_two_in_one_variable() {
    let of = |env: &'static str| {
        let mut all =
            vec![("target", "ipu"), ("entry", "a.py"), ("profile", "on"), ("output", "$SCRATCH"), ("env", env)];
        all.extend(["poplar", "popart", "cache"].map(|name| (name, "x")));
        all
    };
    let both = script(&of("POPLAR_ENGINE_OPTIONS={\"opt.enableMultiAccessCopies\":\"false\"}"));
    let words = r#"/reports\",\"opt.enableMultiAccessCopies\":\"false\"}""#;
    assert!(both.contains(words) && both.matches("export POPLAR_ENGINE_OPTIONS").count() == 1, "{both}");
    assert!(both.contains(r#"PVTI_OPTIONS="{\"enable\":\"true\",\"directory\":\"${SCRATCH}/reports\"}""#), "{both}");
    refused(&of("PVTI_OPTIONS={\"directory\":\"x\"}"), "env", "must leave out directory");
}

/// A switch of the port's own agrees with the variable.
#[test]
fn a_key_that_agrees_with_a_field() {
    let of = |more: &[(&'static str, &'static str)]| {
        [&[("entry", "a.py"), ("args", "run.id=a"), ("switch_key", "run.lazy_mode")], more].concat()
    };
    assert!(script(&of(&[("lazy", "on")])).contains("a.py run.id=a run.lazy_mode=True\n"));
    assert!(script(&of(&[])).contains("a.py run.id=a run.lazy_mode=False\n"));
    refused(&of(&[("args", "run.lazy_mode=false"), ("lazy", "on")]), "args", "`run.lazy_mode` must be True here");
}
