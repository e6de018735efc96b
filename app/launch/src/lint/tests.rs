use super::lint;

#[track_caller]
pub(super) fn check(target: &str, before: &str, after: &str, rules: &[&str]) {
    let target = super::Target::named(target).expect("a target");
    let done = lint(before, target);
    assert_eq!(done.fixed, after);
    assert_eq!(done.findings.iter().map(|finding| &*finding.rule).collect::<Vec<_>>(), rules, "{:?}", done.findings);
    let left = lint(after, target).findings;
    assert!(left.iter().all(|finding| done.findings.contains(finding)), "{left:?}");
}

/// A finding without a unique fix.
#[track_caller]
pub(super) fn found(target: &str, script: &str, rules: &[&str]) {
    check(target, script, script, rules);
}

#[test]
fn published_faults() {
    let tilde = "export TF_POPLAR_FLAGS=--executable_cache_path=~/tmp\n";
    check("ipu", tilde, "export TF_POPLAR_FLAGS=--executable_cache_path=$HOME/tmp\n", &["literal-tilde"]);
    let cache = "poprun --num-replicas=4 --executable-cache-path=$PYTORCH_CACHE_DIR python3 t.py";
    found("popdist", cache, &["cache-variable"]);
    let set = format!("export POPTORCH_CACHE_DIR=/c\n{cache}");
    check("popdist", &set, &set.replace("PYTORCH", "POPTORCH"), &["cache-variable"]);
    check("ipu", "export PYTORCH_CACHE_DIR=/x\n", "export POPTORCH_CACHE_DIR=/x\n", &["cache-variable"]);
    let mca = "mpirun -n 16 --mca \\\n  --bind-to core python t.py\n";
    check("hpu", mca, "mpirun -n 16 \\\n  --bind-to core python t.py\n", &["bare-mca"]);
    check("ipu", "for i in {1}; do\n", "for i in 1; do\n", &["literal-braces"]);
    check("rdu", "python a.py --pef=“x.pef”\n", "python a.py --pef=\"x.pef\"\n", &["curly-quotes"]);
    check("rdu", "ONM_NUM_THREADS=4 srun a\n", "OMP_NUM_THREADS=4 srun a\n", &["unknown-name"]);
    check("rdu", "watch snstat\n", "watch sntilestat\n", &["unknown-name"]);
    found("rdu", "snrun python a.py\n", &["unknown-name"]);
    let twice = "poprun --num-instances=3 --num-replicas 4 python e.py run.distributed=True\n";
    check("popdist", twice, &twice.replace("True", "False"), &["joined-twice", "uneven-replicas"]);
    check("ipu", "cd /home/jane/x\n", "cd $HOME/x\n", &["home-folder"]);
    check("ipu", "cd /home/miniconda/x\n", "cd /home/miniconda/x\n", &[]);
    found("hpu", "python e.py --hmp run.id=x\n", &["unknown-flag"]);
    check("hpu", "PT_HPU_LAZY_MODE=2 python t.py", "PT_HPU_LAZY_MODE=0 python t.py", &["old-value"]);
    check("hpu", "mpirun -x 'PT_HPU_LAZY_MODE=2' a", "mpirun -x 'PT_HPU_LAZY_MODE=0' a", &["old-value"]);
}

#[test]
fn many_trainings_in_place_of_one() {
    for line in [
        "mpirun -n 8 python e.py \\\n run.distributed=False\n",
        "torchrun --nproc_per_node=8 e.py run.distributed=False\n",
        "srun --ntasks 8 python e.py 'run.distributed=False'\n",
        "python gaudi_spawn.py --world_size 8 --use_mpi e.py --distributed=False\n",
    ] {
        check("hpu", line, &line.replace("False", "True"), &["separate-trainings"]);
    }
    found("hpu", "mpirun -n 1 python e.py run.distributed=False\n", &[]);
}

#[test]
fn a_tilde_that_stays() {
    let check = |before: &str, after: &str| check("popdist", before, after, &["literal-tilde"]);
    check("poprun --executable-cache-path=~/c python t.py", "poprun --executable-cache-path=$HOME/c python t.py");
    check("export A=\"~/tmp\"", "export A=\"$HOME/tmp\"");
    check("A='--executable_cache_path=~/tmp' b", "A='--executable_cache_path='\"$HOME\"'/tmp' b");
    check("python e.py data.dir=~/d", "python e.py data.dir=$HOME/d");
    for fine in ["cd ~/x", "export A=~/tmp:~/b", "echo \"~/x\"", "A=~/x b", "python t.py --to ~/x", "# a=~/x"] {
        found("popdist", fine, &[]);
    }
}

#[test]
fn what_is_run_was_compiled() {
    found("rdu", "python a.py compile --pef-name=n.pef\npython a.py run --pef=out/n/n.pef\n", &[]);
    let script =
        "python a.py compile -b=1 --pef-name=net --output-folder=pef\npython a.py run -b=1 --pef=pef/net.pef\n";
    check("rdu", script, &script.replace("--pef=pef/net.pef", "--pef=pef/net/net.pef"), &["pef-path"]);
    let script = "python a.py compile --pef-name=n\nsrun python a.py run --data-parallel --pef=out/n/n.pef\n";
    check("rdu", script, &script.replace("compile", "compile --data-parallel -ws 2"), &["data-parallel"]);
    found("rdu", "python a.py compile -b=1 --pef-name=n\npython a.py run -b 2 --pef=./out/n/n.pef\n", &["batch"]);
    let script = "C=\"python a.py compile --pef-name=n\"\neval $C\nR=\"srun python a.py run --pef=out/m.pef\"\n$R\n";
    check("rdu", script, &script.replace("out/m.pef", "out/n/n.pef"), &["pef-path"]);
    found("rdu", "python a.py compile --pef-name=\"$N\"\npython a.py run --pef=\"out/$N/$N.pef\"\n", &[]);
}

#[test]
fn environments() {
    let opened = "python3 -m venv --system-site-packages env\n";
    for target in ["hpu", "rdu"] {
        check(target, "python3 -m venv env\n", opened, &["closed-venv"]);
        found(target, opened, &[]);
    }
    check("ipu", "virtualenv -p python3 env\n", "virtualenv -p python3.8 env\n", &["python-version"]);
    found("hpu", "pip install -U 'torch>=2' numpy\n", &["stock-framework"]);
    found("ipu", "pip install $POPLAR_SDK_ROOT/poptorch-*.whl torchvision\nconda activate x\n", &["conda"]);
    let job = "#!/bin/bash\n#SBATCH -N 1\nconda activate x\npython t.py\n";
    found("xpu", job, &["conda-function"]);
    found("xpu", &job.replace("bash", "bash -l"), &[]);
    found("xpu", &job.replace("conda", "source ~/.bashrc\nconda"), &[]);
    found("xpu", &job.replace("conda", "eval \"$(conda shell.bash hook)\"\nconda"), &[]);
    found("ipu", "pip install $POPLAR_SDK_ROOT/tensorflow-2.6.3+*.whl\n", &["missing-wheel"]);
    found("ipu", "export IPUOF_VIPU_API_HOST=10.1.3.101\n", &["exported-server"]);
    found("ipu", "IPUOF_VIPU_API_HOST=10.1.3.101 gc-monitor\n", &[]);
    found("hpu", "export ID=$OMPI_COMM_WORLD_LOCAL_RANK\n", &["old-name"]);
    found("hpu", "export ID=3\npython train.py --run $ID\n", &[]);
    found("xpu", "export SYCL_DEVICE_FILTER=gpu IPEX_TILE_AS_DEVICE=1\n", &["old-name"; 2]);
    found("hpu", "export HABANA_VISIBLE_MODULES=\"1,2\" PT_RECIPE_CACHE_PATH=/c\n", &["modules", "old-name"]);
}

#[test]
fn names_of_the_other_vendor() {
    let check = |before: &str, after: &str, rules: &[&str]| check("hpu", before, after, rules);
    let found = |script: &str, rules: &[&str]| found("hpu", script, rules);
    check("CUDA_VISIBLE_DEVICES=0,1 python t.py", "HABANA_VISIBLE_MODULES=0,1 python t.py", &["foreign-devices"]);
    check(
        "export CUDA_VISIBLE_DEVICES=\"4,5,6,7\"\n",
        "export HABANA_VISIBLE_MODULES=\"4,5,6,7\"\n",
        &["foreign-devices"],
    );
    found("CUDA_VISIBLE_DEVICES=$1 python t.py\n", &["foreign-devices"]);
    found("export CUDA_VISIBLE_DEVICES=0\n", &["foreign-devices"]);
    found("export CUDA_VISIBLE_DEVICES=0,1\nexport HABANA_VISIBLE_MODULES=0,1\n", &["foreign-devices"]);
    for line in [
        "torchrun --nproc_per_node=8 t.py --backend nccl\n",
        "python t.py --dist-backend=nccl --lr 1\n",
        "python t.py --dist_backend 'nccl'\n",
        "python t.py -d nccl\n",
        "ARGS=\"--lr 1 -d nccl\"\npython t.py $ARGS\n",
        "python t.py run.dist.backend=NCCL\n",
        "export BACKEND=\"nccl\"\n",
    ] {
        check(line, &line.replace("nccl", "hccl").replace("NCCL", "hccl"), &["backend"]);
    }
    for fine in [
        "python t.py --backend hccl\n",
        "python t.py --name nccl --data=nccl\n",
        "echo $CUDA_VISIBLE_DEVICES\n",
        "# CUDA_VISIBLE_DEVICES=0 --backend nccl\n",
    ] {
        found(fine, &[]);
    }
    for target in ["ipu", "popdist", "rdu"] {
        self::found(target, "CUDA_VISIBLE_DEVICES= python t.py --backend nccl\n", &["backend"]);
    }
    self::check("xpu", "python t.py --backend nccl\n", "python t.py --backend xccl\n", &["backend"]);
}

/// A job for NVIDIA GPUs, checked for another target.
#[test]
fn a_job_for_the_other_vendor() {
    let job = "#!/bin/bash\n#SBATCH --gres=gpu:a100:4\n#SBATCH --time=04:00:00 --exclusive\nmodule load cuda/12.1 nccl\n\
               export CUDA_VISIBLE_DEVICES=0,1,2,3\nexport NCCL_DEBUG=INFO\nnvidia-smi\n\
               srun torchrun --nproc_per_node=4 t.py --epochs 40\n";
    let of_all = ["foreign-request", "foreign-module", "foreign-module", "foreign-variable", "foreign-variable"];
    for target in ["ipu", "popdist", "rdu"] {
        found(target, job, &[&of_all[..], &["foreign-program", "foreign-launcher"]].concat());
    }
    found("xpu", job, &[&of_all[..], &["foreign-program"]].concat());
    let of_gaudi = job.replace("=0,1,2,3", "=$1");
    let rules = ["foreign-request", "foreign-module", "foreign-module", "foreign-devices", "foreign-variable"];
    found("hpu", &of_gaudi, &[&rules[..], &["foreign-program"]].concat());
    let said = |target: &str, script: &str| {
        lint(script, super::Target::named(target).expect("a target")).findings.remove(0).message
    };
    assert!(said("hpu", "#SBATCH -C '[gpu_k20|gpu_k40|cpu]'\n").contains("(gpu_k20, gpu_k40)"));
    assert_eq!(said("hpu", "nvidia-smi -l\n"), "nvidia-smi requires an NVIDIA GPU; use hl-smi");
    assert!(said("popdist", "torchrun t.py\n").contains("those of torchrun would train separately"));
    for request in ["#SBATCH --gpus-per-node=4\n", "#SBATCH -G 4\n", "srun --gres gpu:1 python t.py\n"] {
        found("popdist", request, &["foreign-request"]);
        found("hpu", request, &[]);
    }
    for request in [
        "#SBATCH -C a100\n",
        "#PBS -l select=1:ngpus=4:gputype=A100\n",
        "#PBS -l nodes=1:TeslaV100-16GB\n",
        "#SBATCH --gres=gpu:rtx8000:1\n",
        "sbatch -p v100 job.sh\n",
    ] {
        found("hpu", request, &["foreign-request"]);
    }
    found("xpu", "apptainer exec i.sif bash <<END\nnvidia-smi\nEND\n", &["foreign-program"]);
    found("xpu", "cat > x <<END\nnvidia-smi\nEND\n", &[]);
    found("xpu", "N=$(nvidia-smi -L | wc -l)\n", &["foreign-program"]);
    found(
        "xpu",
        "docker run --gpus all --rm nvcr.io/nvidia/pytorch:24.01-py3 python t.py\n",
        &["foreign-container"; 2],
    );
    found("xpu", "apptainer exec --nv i.sif python t.py --nv\n", &["foreign-container"]);
    found("xpu", "srun --gpus=1 apptainer exec --nv i.sif ls\n", &["foreign-container"]);
    found("rdu", "python -m torch.distributed.launch t.py\n", &["foreign-launcher"]);
    found("xpu", "ml gcc craype-accel-nvidia80\n", &["foreign-module"]);
    let device = |target: &str, script: &str| found(target, script, &["foreign-device"]);
    device("hpu", "python t.py --device cuda\n");
    device("xpu", "srun python t.py --train-device=cuda:1 --epochs 2\n");
    device("ipu", "python -m t trainer.accelerator=gpu\n");
    device("popdist", "poprun --num-replicas=2 python t.py --accelerator gpu\n");
    assert!(said("hpu", "python t.py --device cuda\n").ends_with("; use hpu"));
    found("rdu", "#PBS -l select=1:ngpus=4\n", &["foreign-request"]);
    found("hpu", "#SBATCH -C gpu\n", &["foreign-request"]);
    found("hpu", "python t.py --tf32 --cudnn-benchmark=1\n", &["foreign-option"; 2]);
    found("hpu", "python t.py --no-tf32 --cuda=0 --name tf32\n", &[]);
}

/// Names that are no mistake: hidden devices, a program that is only tested for, a program's own arguments.
#[test]
fn names_of_the_other_vendor_that_are_harmless() {
    for fine in [
        "CUDA_VISIBLE_DEVICES= python t.py\n",
        "export CUDA_VISIBLE_DEVICES=\"-1\"\n",
        "unset NCCL_DEBUG\n",
        "module unload cuda\nml -cuda\n",
        "module load openmpi\n",
        "if command -v nvidia-smi; then nvidia-smi; fi\n",
        "echo nvidia-smi\n",
        "pip install accelerate deepspeed\n",
        "poprun --num-replicas=2 python t.py --gpus 2 --launcher torchrun\n",
        "srun --ipus=2 python t.py --partition a100\n",
        "#SBATCH --job-name=gpu-a100\n#SBATCH --gres=ipu:4\n",
        "srun -l gpu_prog --gpus 2\n",
        "srun -l ./gpu_test -G 2\n",
        "python t.py --device cpu --devices 4 --model gpu --name cuda\n",
    ] {
        found("popdist", fine, &[]);
    }
    for fine in ["#SBATCH --gres=gpu:8\n", "srun torchrun --nproc_per_node=8 t.py\n"] {
        found("hpu", fine, &[]);
    }
    let checked = |target: super::Target| lint("", target).checked;
    assert!(super::Target::all().all(|target| checked(target).contains("Checked: directives")));
}

#[test]
fn a_wall_time_of_minutes() {
    for target in super::Target::all().map(super::Target::name) {
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
    let said = |line: &str| lint(line, super::Target::named("hpu").expect("a target")).findings.remove(0).message;
    assert_eq!(said("#SBATCH --time=1:0"), "Slurm reads 1:0 as 1 minute, not hours: write 01:00:00 or 00:01:00");
    assert_eq!(said("#PBS -l walltime=90:30"), "PBS reads 90:30 as 90 min 30 s, not hours: write 90:30:00 or 01:30:30");
}

#[test]
fn numbers_of_ipus() {
    let check = |line: &str, rules: &[&str]| found("popdist", line, rules);
    check("poprun --num-instances=3 --num-replicas=3 python t.py", &["number-of-devices"]);
    check("srun --ipus=2 poprun --num-replicas=4 python t.py", &["asked-devices"]);
    check("srun --ipus=8 poprun --num-replicas=4 --ipus-per-replica 2 python t.py", &[]);
    check("poprun --num-instances=\"$N\" --num-replicas=$((4 * N)) python t.py", &[]);
}

#[test]
fn what_only_looks_like_a_fault() {
    found("ipu", "for i in {1..4}; do\n", &[]);
    found("ipu", "# for i in {1}\necho a # cd /home/jane\n", &[]);
    found("ipu", "echo \"it’s done\" 'so ’it is'\n", &[]);
    found("popdist", "PYTORCH_CACHE_DIR=/x\npoprun --executable-cache-path=$PYTORCH_CACHE_DIR python t.py\n", &[]);
    found("hpu", "cat > run.txt <<END\nfor i in {1}; do “x”\nEND\ncd \"/home/$USER\"\n", &[]);
    found("hpu", "export PT_HPU_LAZY_MODE=20\nmpirun -n 8 --mca btl_tcp_if_include eno1 python t.py\n", &[]);
}

#[test]
fn a_script_as_a_whole() {
    for target in ["hpu", "rdu", "ipu", "popdist"] {
        let check = |before: &str, after: &str, rules: &[&str]| check(target, before, after, rules);
        check("#!/bin/bash\r\ncd x\r\n", "#!/bin/bash\ncd x\n", &["line-ends"]);
        let lost = "srun -n 8 \\\n  --bind-to core\n  --map-by slot python t.py\n";
        check(lost, &lost.replace("core\n", "core \\\n"), &["lost-continuation"]);
        check("srun a \\ \n  -b\n", "srun a \\\n  -b\n", &["lost-continuation"]);
        // After an open quote nothing is a command.
        check("#SBATCH -N 1\nsrun a & \"b\n", "#SBATCH -N 1\nsrun a & \"b\n", &["left-behind"]);
        // A backslash would be part of the comment.
        check("srun a  # b\n  -c\n", "srun a  # b\n  -c\n", &["lost-continuation"]);
        let late = "#!/bin/bash\n#SBATCH -N 1\nmodule load x\n#SBATCH --time=01:00:00\nsrun a\n";
        let moved = "#!/bin/bash\n#SBATCH -N 1\n#SBATCH --time=01:00:00\nmodule load x\nsrun a\n";
        check(late, moved, &["late-directive"]);
        let literal = "#PBS -q x\nls\n#PBS -o %N.o\n#PBS -e $PBS_JOBID\n";
        check(literal, literal, &["late-directive"; 2]);
        check("for i in {1, 2}; do\n", "for i in 1 2; do\n", &["literal-braces"]);
        check("#SBATCH --time=4h\n", "#SBATCH --time=04:00:00\n", &["wall-time"]);
        check("#PBS -l walltime=90m\n", "#PBS -l walltime=01:30:00\n", &["wall-time"]);
        check("#SBATCH -N 1\nsrun a &\n", "#SBATCH -N 1\nsrun a &\nwait\n", &["left-behind"]);
    }
    let left = "#SBATCH --ipus=2\npoprun --num-replicas=2 python t.py > log &";
    check("popdist", left, &format!("{left}\nwait\n"), &["left-behind"]);
    found("popdist", "poprun --num-replicas 2 2 python t.py\n", &["stray-word"]);
    found("hpu", "for i in {1, 2. 3}; do\n", &["literal-braces"]);
    found("hpu", "export PYTHONPATH=$HOME/x:$(which python)\n", &["python-path"]);
    let twice = "poprun\n  -vv \\\n  --args=\"a\" \n  --num-replicas=2 python t.py\n";
    let mended = "poprun \\\n  -vv \\\n  --args=\"a\" \\\n  --num-replicas=2 python t.py\n";
    check("popdist", twice, mended, &["lost-continuation", "lost-continuation"]);
    for fine in [
        "#SBATCH -N 1\nsrun a &\nwait\n",
        "srun a &\n",
        "#SBATCH -N 1\nsrun a && b\n",
        "cat > job <<E\n#SBATCH -N 1\nE\n",
        "echo '#!/bin/bash\n#SBATCH -N 1\n' > job\n",
        "poprun -vv --num-replicas 2 numactl -N 0 python t.py --num-replicas 3\n",
        "srun a \\\n  -b\n",
        "case $1 in\n  --config)\n    a=$2 ;;\n  -h | --help) exit ;;\n  --cpu=*) b=1 ;;\nesac\n",
    ] {
        found("popdist", fine, &[]);
    }
}

/// `time=…` is on a line that continues `poprun`, so it is the command that is started; `$allocation` is set nowhere.
#[test]
fn names_and_assignments() {
    let swallowed = "poprun --num-replicas=2 \\\n  -vv \\\nlog=$(date)\npython t.py > $log\n";
    found("popdist", swallowed, &["stray-word"]);
    found("popdist", "poprun --num-replicas=2 env log=x python t.py\n", &[]);
    found("popdist", "echo $late\nlate=1\n", &["unset-variable"]);
    found("popdist", "f() { echo $late; }\nlate=1\nf\nexport PART=$PART:x\n", &[]);
    found("popdist", "for i in 1 2; do echo $last; last=$i; done\n", &[]);
    found("popdist", "echo $(hostname $part)\n", &["unset-variable"]);
    found("popdist", "while getopts c: o; do cluster=$OPTARG; done\necho \"$cluster ${part}\"\n", &["unset-variable"]);
    for fine in [
        "HOSTS=a,b\nfor host in $HOSTS; do echo $host; done\n",
        "read -r first rest < x\necho $first $rest\n",
        "source ./settings.sh\necho $batch\n",
        "echo ${batch:-8} '$batch' \\$batch $(awk \"{print \\$size}\")\n",
        "((steps++))\nnames+=(a)\necho $steps ${names[0]}\n",
        "local size\nsize=1\nprintf -v text %s a\necho $size $text $HOME $1 $_\n",
        "wget -e http_proxy=$http_proxy x\n",
    ] {
        found("hpu", fine, &[]);
    }
    let job = "#PBS -l select=8\nCOMMAND=x\nfor part in a b; do\n  $COMMAND $part\ndone\nwait\n";
    found("xpu", job, &["waits-for-nothing"]);
    found("xpu", &job.replace("wait", "# 12 ranks & 6 cards\nwait"), &["waits-for-nothing"]);
    found("xpu", &job.replace("$part\n", "$part > log 2>&1 &\n"), &[]);
    found("xpu", &job.replace("wait", "wait $pid"), &[]);
    found("xpu", &job.replace("wait", "wait $Part"), &["unset-variable"]);
    found("xpu", "module load conda\nconda activate\n", &[]);
}

/// A flag that Hydra rejects is a program's own anywhere else.
#[test]
fn programs_that_are_not_hydras() {
    found("hpu", "PT_HPU_LAZY_MODE=1 python t.py --hmp --lr 1\n", &[]);
    found("hpu", "python t.py --hmp run.id=x\n", &["unknown-flag"]);
}

#[test]
fn hunks_are_of_whole_lines() {
    let check = |script: &str, target: &str, expected: &[(usize, &[&str], &[&str])]| {
        let hunks = lint(script, super::Target::named(target).expect("a target")).hunks;
        let found: Vec<_> = hunks.iter().map(|hunk| (hunk.line, hunk.old.clone(), hunk.new.clone())).collect();
        let lines = |of: &[&str]| of.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let expected: Vec<_> = expected.iter().map(|(line, old, new)| (*line, lines(old), lines(new))).collect();
        assert_eq!(found, expected, "{script}");
    };
    check("a\nfor i in {1}; do", "ipu", &[(2, &["for i in {1}; do"], &["for i in 1; do"])]);
    check(
        "#SBATCH -N 1\na\n#SBATCH -n 2\nb {\nsrun c &\n",
        "hpu",
        &[(1, &[], &["#SBATCH -n 2\n"]), (3, &["#SBATCH -n 2\n"], &[]), (5, &[], &["wait\n"])],
    );
}

/// For any input, the hunks transform the script into the fixed one.
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
        "$(é",
        "qsub <<E\n\\",
        "A=\"$A\"\neval \"$A\" $A ${A",
        "A='x $B $B'\nB='$A $A'\n$A",
        &"$(".repeat(500),
        &(0..500)
            .map(|i| format!("A{}=\"$A{i}\"\n", i + 1))
            .chain(["A0=$SLURM_PROCID\nsrun $A500 torchrun --nnodes $A500 t.py".into()])
            .collect::<String>(),
        &(0..40).map(|i| format!("A{}=\"$A{i} $A{i} $A{i}\"\n", i + 1)).chain(["$A40".into()]).collect::<String>(),
    ] {
        for target in super::Target::all() {
            let done = lint(script, target);
            let mut lines: Vec<String> = script.split_inclusive('\n').map(str::to_string).collect();
            for hunk in done.hunks.iter().rev() {
                let from = if hunk.old.is_empty() { hunk.line } else { hunk.line - 1 };
                let old: Vec<String> = lines.splice(from..from + hunk.old.len(), hunk.new.clone()).collect();
                assert_eq!(old, hunk.old, "{script:?}");
            }
            assert_eq!(lines.concat(), done.fixed, "{script:?}");
        }
    }
}

/// A name in capitals is the script's own too, unless a shell, a scheduler, a site or a vendor sets it.
#[test]
fn names_in_capitals_that_are_set_nowhere() {
    let unset = |script: &str| found("hpu", script, &["unset-variable"]);
    let known = |script: &str| found("hpu", script, &[]);
    unset("mpirun -n $NPROC python t.py\n");
    unset("mpirun -n \"${NPROC}\" python t.py\n");
    unset("source venv/bin/activate\ntorchrun --nproc_per_node=$GPUS_PER_NODE t.py\n");
    unset("module load x\ncd $DATADIR\n");
    known("NPROC=8\nmpirun -n $NPROC python t.py\n");
    known("export NPROC=8\nmpirun -n ${NPROC} python t.py\n");
    known(": \"${NPROC:=8}\"\nmpirun -n $NPROC python t.py\n");
    known("echo ${NPROC:?}\nmpirun -n $NPROC python t.py\n");
    known("mpirun -n ${NPROC:-8} python t.py\n");
    known("if [ -z \"$NPROC\" ]; then echo no >&2; exit 2; fi\nmpirun -n $NPROC python t.py\n");
    known("#SBATCH --export=NPROC,MODEL=a\necho $NPROC $MODEL\n");
    known("source settings.sh\nmpirun -n $NPROC python t.py\n");
    known("read -r NPROC < n\nfor DIR in a b; do echo $NPROC $DIR; done\n");
    known("echo $HOME $SLURM_JOB_ID $PBS_O_WORKDIR $OMPI_COMM_WORLD_RANK $RANK $SCRATCH $PSCRATCH $CONDA_PREFIX\n");
    known("echo $HABANA_LOGS $PT_HPU_LAZY_MODE $HCCL_SOCKET_IFNAME $ZE_AFFINITY_MASK\n");
    known("module load openmpi\necho $OPENMPI_HOME\n");
    known("awk \"{print $NF}\" f\n");
}

/// A placeholder; a shell's own `<` and `>` are not.
#[test]
fn names_that_are_still_to_be_filled_in() {
    let open = |script: &str| found("hpu", script, &["placeholder"]);
    open("#SBATCH --account=<your-account>\nsrun python t.py\n");
    open("#PBS -q <myqueue>\npython /p/t.py\n");
    open("group=/projects/<group_id>\n");
    open("cd <path>\n");
    open("#SBATCH --account=[account]\n");
    open("#SBATCH --account=project_xxxxxxxx\n");
    open("#SBATCH <your options>\n");
    open("DATA=\"[data-folder]/train\"\n");
    open("DATA='<PATH TO DATA>'\n");
    open("python your_script.py\n");
    open("python t.py --data /path/to/data\n");
    open("export PYTHONPATH=$HOME/.../x\n");
    open("#SBATCH --account=your-account\n");
    for fine in [
        "#SBATCH --constraint=[a|b] -w node[1-3]\n",
        "sort <in>out\n",
        "sort < in > out\n",
        "sort <in >out\n",
        "echo '<b>' \"<b>\"\n",
        "# <x> /path/to/x\n",
        "echo 'usage: x path/to/y'; echo $1 path/to/y\n",
        "python t.py --name yours ..\n",
        "cat <<END\n<b>\nEND\n",
        "read a < x # y <b>\n",
    ] {
        found("hpu", fine, &[]);
    }
}

#[test]
fn shells_without_commands() {
    let idle = |script: &str| found("hpu", &format!("#SBATCH -N 1\n{script}"), &["idle-shell"]);
    idle("apptainer exec i.sif bash\npython t.py\n");
    idle("srun --pty bash\n");
    idle("poetry shell\npoetry run python t.py\n");
    let fine = "#SBATCH -N 1\napptainer exec i.sif bash x.sh\nsrun bash < x.sh\necho a | srun bash\nsrun sh <<E\nb\nE\n\
                poetry install\npoetry run shell\n";
    found("hpu", fine, &[]);
}

/// Background commands at the end of a job, of any kind; folders that are not a user's.
#[test]
fn a_last_command_beside_the_script() {
    let job = "#PBS -l select=1\nEXEC=x\n${EXEC} > log 2>&1 &\n";
    check("xpu", job, &format!("{job}wait\n"), &["left-behind"]);
    found("xpu", "#PBS -l select=1\ncd $PBS_O_WORKDIR\nwatch x > log &\npython t.py\n", &[]);
    found("hpu", "cd /home/data/A\ncd /home/shared/x\n", &[]);
    found("hpu", "CUDA_VISIBLE_DEVICE=0 python t.py\n", &["foreign-devices"]);
}

#[test]
fn what_a_shell_in_a_job_does_not_do() {
    let head = "#!/bin/bash\n#SBATCH -N 1\n";
    let found = |script: &str, rule: &str| found("xpu", &format!("{head}{script}"), &[rule]);
    found("for node in a b; do\nssh $node\nmkdir /x\ndone\n", "idle-shell");
    found("echo \"#SBATCH --constraint=x\"\npython t.py\n", "late-directive");
    found("set part = x\npython t.py\n", "csh");
    found("source <path to the code>/bin/activate\n", "placeholder");
    found("python t.py --data YourData\n", "placeholder");
    let mended = |before: &str, after: &str, rule: &str| {
        check("xpu", &format!("{head}{before}"), &format!("{head}{after}"), &[rule]);
    };
    mended("if [ -n $PATH ]; then ls; fi\n", "if [ -n \"$PATH\" ]; then ls; fi\n", "unquoted-test");
    mended("cd /home/users/j/jane/x\n", "cd $HOME/x\n", "home-folder");
    mended("cd /home/549/jane/x\n", "cd $HOME/x\n", "home-folder");
    mended("export PATH=$PATH=/x/bin\n", "export PATH=$PATH:/x/bin\n", "path-separator");
    mended("A=1\npython t.py --out x={$A}\n", "A=1\npython t.py --out x=${A}\n", "literal-braces");
    found("singularity shell x.sif\npython t.py\n", "idle-shell");
    mended("bash <<END\ncd /home/jane\nEND\n", "bash <<END\ncd $HOME\nEND\n", "home-folder");
    found("rm \"x/*\"\n", "quoted-glob");
    found("python t.py 2>&1 >> log\n", "redirect-order");
    found("python t.py 2>&1 > log || exit 1\n", "redirect-order");
    found("ls \"${PWD##*/}/*\"\n", "quoted-glob");
    found("{ ls; } > log\necho \"#SBATCH -n 2\"\n", "late-directive");
    // What is inserted and what is removed at one place.
    let both = "#!/bin/bash\n#SBATCH -c 4\n\u{200b}\nsrun python t.py\n";
    let fixed = "#!/bin/bash\n#SBATCH -c 4\nexport SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n\nsrun python t.py\n";
    check("xpu", both, fixed, &["invisible-character", "cores"]);
    found("cd <PATH TO CODE>\n", "placeholder");
    mended("docker run -it --net=host x python t.py\n", "docker run -i --net=host x python t.py\n", "prompt");
    mended("conda install x\n", "conda install -y x\n", "prompt");
    mended("ls || conda update x\n", "ls || conda update -y x\n", "prompt");
    mended("\u{200b}python t.py\n", "python t.py\n", "invisible-character");
    for fine in [
        "ssh a hostname\nssh -t x <<END\nls\nEND\n",
        "echo \"#SBATCH -n 2\" > x.sh\n",
        "set -e\nset a b\nconda install -y x\nconda update --help --yes\n",
        "rm \"x\"/*\npython t.py >> log 2>&1\necho 'a 2>&1 > b'\nTF_INC=1\npython t.py\n",
        "cd /x/users/jane/home/code\nls /home/x/public /home/x/$USER /x/home/jane $A/home/jane ${B}/home/jane\n",
        "python a.py &\nwhile true; do sleep 60; done\n",
        "awk '{print {$1}}' x\necho {a,$HOME} ${HOME}\n",
        "srun ray start --block &\npython t.py\n",
        "read -ra arr <<< ${PWD}\nn=8\necho $((8/$n)) $MY_DATA\n",
        "cd /home/bio/groupshare\nls /home/software.x/a /home/users\n",
        "sort < /x/in > /x/out\n",
        "ls \"${PWD##*/}\" \"$*\" \"$(echo *.x)\"\n",
        "ls 2>&1 >/dev/null | grep x\nA=$(ls 2>&1 >/dev/null)\ncat > x <<END\nls 2>&1 > x\nEND\n",
        "apt-get update\nyes | conda install x\n",
        "{\necho \"#SBATCH -n 2\"\necho ls\n} > job.sh\n",
    ] {
        super::tests::found("xpu", &format!("{head}{fine}"), &[]);
    }
}
