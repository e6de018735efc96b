use super::{Target, lint};

#[track_caller]
fn check(target: Target, before: &str, after: &str, rules: &[&str]) {
    let done = lint(before, target);
    assert_eq!(done.fixed, after);
    assert_eq!(done.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), rules, "{:?}", done.findings);
    let left = lint(after, target).findings;
    assert!(left.iter().all(|finding| done.findings.contains(finding)), "{left:?}");
}

/// Found, and there is no one right answer.
#[track_caller]
fn found(target: Target, script: &str, rules: &[&str]) {
    check(target, script, script, rules);
}

#[test]
fn published_faults() {
    use Target::*;
    let tilde = "export TF_POPLAR_FLAGS=--executable_cache_path=~/tmp\n";
    check(Ipu, tilde, "export TF_POPLAR_FLAGS=--executable_cache_path=$HOME/tmp\n", &["literal-tilde"]);
    let cache = "poprun --num-replicas=4 --executable-cache-path=$PYTORCH_CACHE_DIR python3 t.py";
    check(Popdist, cache, &cache.replace("PYTORCH", "POPTORCH"), &["cache-variable"]);
    check(Ipu, "export PYTORCH_CACHE_DIR=/x\n", "export POPTORCH_CACHE_DIR=/x\n", &["cache-variable"]);
    let mca = "mpirun -n 16 --mca \\\n  --bind-to core python t.py\n";
    check(Hpu, mca, "mpirun -n 16 \\\n  --bind-to core python t.py\n", &["bare-mca"]);
    check(Ipu, "for i in {1}; do\n", "for i in 1; do\n", &["literal-braces"]);
    check(Rdu, "python a.py --pef=“x.pef”\n", "python a.py --pef=\"x.pef\"\n", &["curly-quotes"]);
    check(Rdu, "ONM_NUM_THREADS=4 srun a\n", "OMP_NUM_THREADS=4 srun a\n", &["unknown-name"]);
    check(Rdu, "watch snstat\n", "watch sntilestat\n", &["unknown-name"]);
    found(Rdu, "snrun python a.py\n", &["unknown-name"]);
    let twice = "poprun --num-instances=3 --num-replicas 4 python e.py run.distributed=True\n";
    check(Popdist, twice, &twice.replace("True", "False"), &["joined-twice", "uneven-replicas"]);
    check(Ipu, "cd /home/jane/x\n", "cd $HOME/x\n", &["home-folder"]);
    found(Hpu, "python e.py --hmp run.id=x\n", &["unknown-flag"]);
    check(Hpu, "PT_HPU_LAZY_MODE=2 python t.py", "PT_HPU_LAZY_MODE=0 python t.py", &["lazy-mode"]);
    check(Hpu, "mpirun -x 'PT_HPU_LAZY_MODE=2' a", "mpirun -x 'PT_HPU_LAZY_MODE=0' a", &["lazy-mode"]);
}

#[test]
fn many_trainings_in_place_of_one() {
    for line in [
        "mpirun -n 8 python e.py \\\n run.distributed=False\n",
        "torchrun --nproc_per_node=8 e.py run.distributed=False\n",
        "srun --ntasks 8 python e.py 'run.distributed=False'\n",
        "python gaudi_spawn.py --world_size 8 --use_mpi e.py --distributed=False\n",
    ] {
        check(Target::Hpu, line, &line.replace("False", "True"), &["separate-trainings"]);
    }
    found(Target::Hpu, "mpirun -n 1 python e.py run.distributed=False\n", &[]);
}

#[test]
fn a_tilde_that_stays() {
    let check = |before: &str, after: &str| check(Target::Popdist, before, after, &["literal-tilde"]);
    check("poprun --executable-cache-path=~/c python t.py", "poprun --executable-cache-path=$HOME/c python t.py");
    check("export A=\"~/tmp\"", "export A=\"$HOME/tmp\"");
    check("A='--executable_cache_path=~/tmp' b", "A='--executable_cache_path='\"$HOME\"'/tmp' b");
    check("python e.py data.dir=~/d", "python e.py data.dir=$HOME/d");
    for fine in ["cd ~/x", "export A=~/tmp:~/b", "echo \"~/x\"", "A=~/x b", "python t.py --to ~/x", "# a=~/x"] {
        found(Target::Popdist, fine, &[]);
    }
}

#[test]
fn what_is_run_was_compiled() {
    use Target::Rdu;
    let script =
        "python a.py compile -b=1 --pef-name=net --output-folder=pef\npython a.py run -b=1 --pef=pef/net.pef\n";
    check(Rdu, script, &script.replace("--pef=pef/net.pef", "--pef=pef/net/net.pef"), &["pef-path"]);
    let script = "python a.py compile --pef-name=n\nsrun python a.py run --data-parallel --pef=out/n/n.pef\n";
    check(Rdu, script, &script.replace("compile", "compile --data-parallel -ws 2"), &["data-parallel"]);
    found(Rdu, "python a.py compile -b=1 --pef-name=n\npython a.py run -b 2 --pef=./out/n/n.pef\n", &["batch"]);
    found(Rdu, "python a.py compile --pef-name=\"$N\"\npython a.py run --pef=\"out/$N/$N.pef\"\n", &[]);
}

#[test]
fn environments() {
    use Target::*;
    let opened = "python3 -m venv --system-site-packages env\n";
    for target in [Hpu, Rdu] {
        check(target, "python3 -m venv env\n", opened, &["closed-venv"]);
        found(target, opened, &[]);
    }
    check(Ipu, "virtualenv -p python3 env\n", "virtualenv -p python3.8 env\n", &["python-version"]);
    found(Hpu, "pip install -U 'torch>=2' numpy\n", &["stock-framework"]);
    found(Ipu, "pip install $POPLAR_SDK_ROOT/poptorch-*.whl torchvision\nconda activate x\n", &["conda"]);
    found(Ipu, "pip install $POPLAR_SDK_ROOT/tensorflow-2.6.3+*.whl\n", &["keras-wheel"]);
    found(Ipu, "export IPUOF_VIPU_API_HOST=10.1.3.101\n", &["exported-server"]);
    found(Ipu, "IPUOF_VIPU_API_HOST=10.1.3.101 gc-monitor\n", &[]);
    found(Hpu, "export HABANA_VISIBLE_MODULES=\"1,2\" PT_RECIPE_CACHE_PATH=/c\n", &["modules", "old-name"]);
}

#[test]
fn names_of_the_other_vendor() {
    let check = |before: &str, after: &str, rules: &[&str]| check(Target::Hpu, before, after, rules);
    let found = |script: &str, rules: &[&str]| found(Target::Hpu, script, rules);
    check("CUDA_VISIBLE_DEVICES=0,1 python t.py", "HABANA_VISIBLE_MODULES=0,1 python t.py", &["cuda-devices"]);
    check(
        "export CUDA_VISIBLE_DEVICES=\"4,5,6,7\"\n",
        "export HABANA_VISIBLE_MODULES=\"4,5,6,7\"\n",
        &["cuda-devices"],
    );
    found("CUDA_VISIBLE_DEVICES=$1 python t.py\n", &["cuda-devices"]);
    found("export CUDA_VISIBLE_DEVICES=0\n", &["cuda-devices"]);
    found("export CUDA_VISIBLE_DEVICES=0,1\nexport HABANA_VISIBLE_MODULES=0,1\n", &["cuda-devices"]);
    for line in [
        "torchrun --nproc_per_node=8 t.py --backend nccl\n",
        "python t.py --dist-backend=nccl --lr 1\n",
        "python t.py --dist_backend 'nccl'\n",
        "python t.py run.dist.backend=NCCL\n",
        "export BACKEND=\"nccl\"\n",
    ] {
        check(line, &line.replace("nccl", "hccl").replace("NCCL", "hccl"), &["nccl"]);
    }
    for fine in [
        "python t.py --backend hccl\n",
        "python t.py --name nccl --data=nccl\n",
        "echo $CUDA_VISIBLE_DEVICES\n",
        "# CUDA_VISIBLE_DEVICES=0 --backend nccl\n",
    ] {
        found(fine, &[]);
    }
    self::found(Target::Ipu, "CUDA_VISIBLE_DEVICES= python t.py --backend nccl\n", &[]);
}

#[test]
fn a_wall_time_of_minutes() {
    for target in Target::ALL {
        for line in [
            "#SBATCH --time=1:0\n",
            "#SBATCH -N 1 --time 48:00   # two days\n",
            "#SBATCH -t 02:00\n",
            "#SBATCH -t2:00\n",
            "#PBS -l select=1,walltime=1:00\n",
            "#PBS -lwalltime=1:00\n",
            "sbatch --time=1:0 run.sh\n",
            "srun --exclusive -n 8 -t 1:30 run.sh\n",
        ] {
            found(target, line, &["wall-time"]);
        }
        for fine in [
            "#SBATCH --time=01:00:00\n",
            "#SBATCH --time=60\n",
            "#SBATCH --time=1-12:00\n",
            "#SBATCH --time=1-0\n",
            "#SBATCH --time=\n",
            "#SBATCH --begin=16:00\n",
            "#SBATCH --nodes=1 # --time=1:0\n",
            "#PBS -l walltime=01:00:00\n",
            "srun -n 8 ./train -t 1:30\n",
            "srun --exclusive ./train -t 1:30\n",
            "srun -l ./train --time 1:30\n",
            "./train --time 1:0\n",
            "# --time=1:0\n",
        ] {
            found(target, fine, &[]);
        }
    }
    let said = |line: &str| lint(line, Target::Hpu).findings.remove(0).message;
    assert!(said("#SBATCH --time=1:0").starts_with("1:0 is 1 minute to Slurm, not hours: 01:00:00 or 00:01:00 "));
    assert!(
        said("#PBS -l walltime=90:30").starts_with("90:30 is 90 min 30 s to PBS, not hours: 90:30:00 or 01:30:30 ")
    );
}

#[test]
fn numbers_of_ipus() {
    let check = |line: &str, rules: &[&str]| found(Target::Popdist, line, rules);
    check("poprun --num-instances=3 --num-replicas=3 python t.py", &["number-of-ipus"]);
    check("srun --ipus=2 poprun --num-replicas=4 python t.py", &["asked-ipus"]);
    check("srun --ipus=8 poprun --num-replicas=4 --ipus-per-replica 2 python t.py", &[]);
    check("poprun --num-instances=\"$N\" --num-replicas=$((4 * N)) python t.py", &[]);
}

#[test]
fn what_only_looks_like_a_fault() {
    use Target::*;
    found(Ipu, "for i in {1..4}; do\n", &[]);
    found(Ipu, "# for i in {1}\necho a # cd /home/jane\n", &[]);
    found(Ipu, "echo \"it’s done\" 'so ’it is'\n", &[]);
    found(Popdist, "PYTORCH_CACHE_DIR=/x\npoprun --executable-cache-path=$PYTORCH_CACHE_DIR python t.py\n", &[]);
    found(Hpu, "cat > run.txt <<END\nfor i in {1}; do “x”\nEND\ncd \"/home/$USER\"\n", &[]);
    found(Hpu, "export PT_HPU_LAZY_MODE=20\nmpirun -n 8 --mca btl_tcp_if_include eno1 python t.py\n", &[]);
}

#[test]
fn the_diff_names_lines() {
    let script = "a\nfor i in {1}; do";
    let diff = lint(script, Target::Ipu).diff(script, "run.sh");
    assert!(diff.contains("@@ -2 +2 @@\n-for i in {1}; do\n\\ No newline"), "{diff}");
}

/// Whatever is pasted, lines stay lines.
#[test]
fn odd_scripts() {
    for script in [
        "",
        "\\",
        "'",
        "\"$(",
        "<<",
        "<<E\n",
        "${",
        "`",
        "é“",
        "a\r\nfor i in {1}\r\n",
        "--mca",
        "poprun --num-replicas=",
    ] {
        for target in Target::ALL {
            let done = lint(script, target);
            assert_eq!(done.fixed.matches('\n').count(), script.matches('\n').count(), "{script:?}");
        }
    }
}
