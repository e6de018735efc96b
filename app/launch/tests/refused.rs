//! What is wrong with a request is said at its field.

use launch::{Launcher, Request, Scheduler, Script, Target, plan, render, site_named};

#[track_caller]
fn check(target: Target, site: &str, change: impl Fn(&mut Request), field: &str) {
    let mut request = Request::new(target, "train.py");
    if target == Target::Ipu || target == Target::Popdist {
        request.values.insert("cache".into(), "/cache".into());
    }
    change(&mut request);
    let problems = plan(&request, &site_named(site, target).expect("a site")).expect_err("refused");
    assert!(problems.iter().any(|problem| problem.field == field), "{problems:?}");
}

#[test]
fn numbers() {
    use Target::{Hpu, Ipu, Popdist, Rdu};
    check(Ipu, "alcf", |request| request.replicas = Some(0), "replicas");
    check(Ipu, "alcf", |request| request.replicas = Some(10_000), "replicas");
    check(Ipu, "alcf", |request| request.replicas = Some(3), "replicas");
    check(Ipu, "alcf", |request| request.replicas = Some(128), "replicas");
    check(Ipu, "alcf", |request| request.instances = Some(2), "instances");
    let uneven = |request: &mut Request| (request.instances, request.replicas) = (Some(3), Some(4));
    check(Popdist, "tamu-aces", uneven, "replicas");
    check(Hpu, "generic", |request| request.instances = Some(9), "instances");
    check(Hpu, "generic", |request| request.modules = vec![1, 2], "modules");
    check(Hpu, "alcf", |request| request.nodes = 3, "nodes");
    check(Rdu, "generic", |request| request.instances = Some(17), "instances");
    check(Rdu, "generic", |request| request.nodes = 0, "nodes");
}

#[test]
fn launchers_that_a_scheduler_does_not_carry() {
    let over_pbs = |launcher| {
        move |request: &mut Request| {
            (request.scheduler, request.nodes, request.launcher) = (Scheduler::Pbs, 2, Some(launcher));
            request.values.insert("select".into(), "ngpus=8".into());
        }
    };
    check(Target::Hpu, "generic", over_pbs(Launcher::Torchrun), "launcher");
    check(Target::Hpu, "generic", over_pbs(Launcher::Lightning), "launcher");
    check(Target::Hpu, "generic", |request| request.nodes = 2, "hosts");
    let by_mpich = |request: &mut Request| (request.nodes, request.launcher) = (2, Some(Launcher::Mpirun));
    check(Target::Rdu, "generic", by_mpich, "launcher");
}

/// Under a scheduler mpirun is told the job's machines, and the job has a task for each process.
#[test]
fn mpirun_on_several_machines_of_a_job() {
    for (scheduler, asked) in
        [(Scheduler::Pbs, "\n#PBS -l select=2:ngpus=8:mpiprocs=8\n"), (Scheduler::Slurm, "--ntasks-per-node=8")]
    {
        let mut request = Request::new(Target::Hpu, "train.py");
        (request.scheduler, request.nodes, request.launcher) = (scheduler, 2, Some(Launcher::Mpirun));
        request.values.insert("select".into(), "ngpus=8".into());
        let plan = plan(&request, &site_named("generic", Target::Hpu).expect("a site")).expect("a plan");
        let script = render(&plan);
        assert!(script.contains(asked) && script.contains("JOB_HOSTS=\"$(hosts 8)\""), "{script}");
    }
}

#[test]
fn what_only_the_user_knows() {
    check(Target::Ipu, "generic", |_| {}, "poplar");
    check(Target::Ipu, "alcf", |request| request.values.clear(), "cache");
    check(Target::Hpu, "tamu-aces", |request| request.scheduler = Scheduler::Slurm, "gres");
    check(Target::Hpu, "generic", |request| request.script = Script::Setup, "venv");
    check(Target::Hpu, "generic", |request| request.scheduler = Scheduler::Pbs, "select");
}

#[test]
fn words_that_could_be_read_otherwise() {
    let set = |name: &'static str, value: &'static str| {
        move |request: &mut Request| drop(request.values.insert(name.into(), value.into()))
    };
    check(Target::Hpu, "generic", set("account", "a\n#SBATCH --wrap=id"), "account");
    check(Target::Hpu, "generic", set("time", "$(id)"), "time");
    let select = |request: &mut Request| {
        request.scheduler = Scheduler::Pbs;
        request.values.insert("select".into(), "ngpus=8\n#PBS -q other".into());
    };
    check(Target::Hpu, "generic", select, "select");
    check(Target::Hpu, "generic", set("cash", "x"), "cash");
    check(Target::Hpu, "generic", |request| request.entry = "-c".into(), "entry");
    check(Target::Hpu, "generic", |request| request.entry.clear(), "entry");
    check(Target::Hpu, "generic", |request| request.hosts = vec!["a;b".into()], "hosts");
    check(Target::Popdist, "alcf", |_| {}, "scheduler");
    let split_again = |request: &mut Request| {
        (request.nodes, request.hosts) = (2, vec!["a".into(), "b".into()]);
        for (name, value) in [("poplar", "/p"), ("popart", "/q"), ("interface", "eno1 -x EVIL=1")] {
            request.values.insert(name.into(), value.into());
        }
    };
    check(Target::Popdist, "generic", split_again, "interface");
}

#[test]
fn one_training_not_many() {
    let apart = |request: &mut Request| {
        request.instances = Some(8);
        request.args = vec!["run.distributed=False".into()];
    };
    check(Target::Hpu, "generic", apart, "args");
    let twice = |request: &mut Request| request.args = vec!["run.distributed=True".into()];
    check(Target::Popdist, "tamu-aces", twice, "args");
}

#[test]
fn an_unknown_site_names_those_there_are() {
    let said = site_named("mars", Target::Ipu).expect_err("refused").to_string();
    assert!(said.contains("no site is called `mars`") && said.contains("alcf-pod64"), "{said}");
    let said = site_named("alcf-sn30", Target::Ipu).expect_err("refused").to_string();
    assert!(said.contains("`alcf-sn30` has no ipu"), "{said}");
}
