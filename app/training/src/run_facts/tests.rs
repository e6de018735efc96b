use super::{JoinedBy, Program, RunRole, run_facts};
use crate::target::TargetFacts;
use python::SourceFile;

fn read(files: &[(&str, &str)]) -> Vec<Program> {
    let file = |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
    run_facts(&files.iter().map(file).collect::<Vec<_>>(), &facts()).programs
}

/// The fields that the first program fills in for a target, as `name=value` separated by spaces. The target's
/// requirements are those of its guide.
fn terms(target: &str) -> guide::ProgramTerms {
    let import = match target {
        "popdist" => Some("popdist"),
        "rdu" => Some("sambaflow.samba.utils.argparser"),
        _ => None,
    };
    let member = if target == "popdist" { "ipu" } else { target };
    guide::ProgramTerms {
        switch: Some("lazy_mode".to_owned()).filter(|_| target == "hpu"),
        import: import.map(str::to_owned),
        member: member.to_owned(),
        joins: target == "hpu",
        ..guide::ProgramTerms::default()
    }
}

#[track_caller]
/// The requirements in the guides for a project with several devices.
fn facts() -> TargetFacts {
    let modes = ["cpu", "hpu", "ipu", "rdu", "tpu", "xpu"].map(str::to_owned);
    TargetFacts { compute_modes: modes.to_vec(), ..TargetFacts::default() }
}

fn check(files: &[(&str, &str)], target: &str, expected: &str) {
    let programs = read(files);
    let fields = programs.first().expect("a program").launch_fields(&terms(target));
    let said: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(said.join("; "), expected, "{programs:#?}");
}

const OPTIONS: &str = "import argparse, os\nimport torch\n\nparser = argparse.ArgumentParser()\n\
    parser.add_argument('data', nargs='?', default='.')\n\
    parser.add_argument('-b', '--batch-size', default=256, type=int)\n\
    parser.add_argument('--test-batch-size', default=1000, type=int)\n\
    parser.add_argument('--accum-iter', type=int, default=2)\n\
    parser.add_argument('--distributed', action='store_true')\n\
    parser.add_argument('--device', choices=['cpu', 'cuda', 'hpu'], default='cuda')\n\
    parser.add_argument('--run', required=True)\n\n\n\
    def train(loader):\n    for x, y in loader:\n        net(x).sum().backward()\n\n\n\
    if __name__ == '__main__':\n    rank = int(os.environ['LOCAL_RANK'])\n    train(None)\n";

#[test]
fn options_of_argparse() {
    check(
        &[("train.py", OPTIONS)],
        "hpu",
        "entry=train.py; args=--device hpu; batch=256; batch-from=--batch-size train.py:6; batch-key=--batch-size; \
         accumulation=2; accumulation-from=--accum-iter train.py:8; accumulation-key=--accum-iter; \
         distributed-key=--distributed; suits=torchrun; joined-by=environment; needs=--run",
    );
    let program = read(&[("train.py", OPTIONS)]).remove(0);
    assert_eq!(program.place.to_string(), "train.py:19");
    assert_eq!(program.settings.len(), 7);
    // A device that the program does not list is not set: it has to be ported first.
    check(
        &[("t.py", &OPTIONS.replace(", 'hpu'", "").replace("'--run', required=True", "'--run'"))],
        "rdu",
        "entry=t.py; batch=256; batch-from=--batch-size t.py:6; batch-key=--batch-size; accumulation=2; \
         accumulation-from=--accum-iter t.py:8; accumulation-key=--accum-iter; distributed-key=--distributed; alone=on",
    );
}

const MAIN: &str = "import hydra\nfrom app.config import Config\nfrom app.trainer import Trainer\n\n\n\
    @hydra.main(version_base=None, config_path='../app/conf', config_name='base')\n\
    def main(cfg):\n    Trainer(cfg).fit()\n\n\nif __name__ == '__main__':\n    main()\n";

const CONFIG: &str = "from dataclasses import dataclass, field\nfrom enum import Enum\n\
    from hydra.core.config_store import ConfigStore\nfrom omegaconf import MISSING\n\n\n\
    class Device(Enum):\n    CPU = 0\n    GPU = 1\n    HPU = 2\n\n\n\
    @dataclass\nclass Run:\n    distributed: bool = True\n    mode: Device = Device.GPU\n    minibatch_size: int = 2\n    \
    id: str = MISSING\n\n\n@dataclass\nclass Adam:\n    rate: float = 1e-3\n    gradient_accumulation: int = 4\n\n\n\
    @dataclass\nclass Mode:\n    name: str = 'train'\n\n\n@dataclass\nclass Train(Mode):\n    \
    optimizer: Adam = field(default_factory=Adam)\n\n\n\
    defaults = [{'run': 'base_run'}, {'mode': 'train'}]\n\n\n\
    @dataclass\nclass Config:\n    defaults: list = field(default_factory=lambda: defaults)\n    run: Run = MISSING\n    \
    mode: Mode = MISSING\n    output: str = 'out'\n\n\n\
    cs = ConfigStore.instance()\ncs.store(group='run', name='base_run', node=Run)\n\
    cs.store(group='mode', name='train', node=Train)\ncs.store(group='mode', name='infer', node=Mode)\n\
    cs.store(name='base_config', node=Config)\n";

const TRAINER: &str = "import torch\nfrom mpi4py import MPI\n\n\nclass Trainer:\n    def fit(self):\n        \
    n = int(self.args.run.minibatch_size / self.world_size)\n        self.loss.backward()\n";

#[test]
fn keys_of_a_configuration_in_dataclasses() {
    let project = |yaml: &'static str| {
        [("app/config.py", CONFIG), ("app/conf/base.yaml", yaml), ("app/trainer.py", TRAINER), ("bin/exec.py", MAIN)]
    };
    let plain = "defaults:\n  - base_config\n  - _self_\n";
    check(
        &project(plain),
        "hpu",
        "entry=bin/exec.py; args=run.mode=HPU; batch=2; batch-from=run.minibatch_size app/config.py:17; \
         batch-key=run.minibatch_size; accumulation=4; \
         accumulation-from=mode.optimizer.gradient_accumulation app/config.py:24; \
         accumulation-key=mode.optimizer.gradient_accumulation; shared-batch=app/trainer.py:7; \
         distributed-key=run.distributed; joined-by=mpi; needs=run.id",
    );
    let programs = read(&project(plain));
    let names: Vec<&str> = programs[0].settings.iter().map(|setting| setting.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "output",
            "run",
            "run.distributed",
            "run.mode",
            "run.minibatch_size",
            "run.id",
            "mode",
            "mode.name",
            "mode.optimizer.rate",
            "mode.optimizer.gradient_accumulation"
        ]
    );
    assert_eq!(programs[0].settings[6].choices, ["train", "infer"]);
    assert_eq!(programs[0].joins[0].by, JoinedBy::Mpi);
    // Values in the file override those in the classes.
    let changed =
        "defaults:\n  - base_config\n  - override mode: infer\nrun:\n  minibatch_size: 16 # both cards\n  id: x\n";
    let programs = read(&project(changed));
    let batch = programs[0].setting(RunRole::Batch).expect("a batch");
    assert_eq!((batch.value.as_deref(), batch.place.to_string()), (Some("16"), "app/conf/base.yaml:5".to_owned()));
    assert!(programs[0].setting(RunRole::Accumulation).is_none());
}

#[test]
fn keys_of_a_configuration_in_files() {
    let main = "import hydra\nimport lightning as L\n\n\n@hydra.main(config_path='conf', config_name='config.yaml')\n\
        def main(cfg):\n    L.Trainer(devices=8).fit(net)\n\n\nmain()\n";
    let root = "# which parts\ndefaults:\n  - data: cells\n  - hydra/launcher: x\nepochs: 3\nddp: false\n";
    let data = "batch_size: 32\npath: ???\n";
    check(
        &[("run.py", main), ("conf/config.yaml", root), ("conf/data/cells.yaml", data), ("conf/data/mice.yaml", data)],
        "hpu",
        "entry=run.py; batch=32; batch-from=data.batch_size conf/data/cells.yaml:1; batch-key=data.batch_size; \
         instances=8; distributed-key=ddp; suits=lightning; joined-by=lightning; devices-key==8 run.py:7; nodes-key==1 run.py:7; needs=data.path",
    );
}

#[test]
fn what_a_trainer_of_lightning_is_told() {
    let script = |arguments: &str| {
        let loader = "torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)";
        format!(
            "import lightning as L\nimport torch\n\nSTEPS = 3\ntrainer = L.Trainer({arguments})\ntrainer.fit(net, {loader})\n"
        )
    };
    let expect = |arguments: &str, target: &str, rest: &str| {
        let batch = "entry=a.py; batch=16; batch-from=batch_size a.py:6";
        check(&[("a.py", &script(arguments))], target, &format!("{batch}{rest}"));
    };
    let accumulates = "; accumulation=4; accumulation-from=accumulate_grad_batches a.py:5";
    expect(
        "devices=2, accumulate_grad_batches=4",
        "hpu",
        &format!(
            "{accumulates}; instances=2; suits=lightning; joined-by=lightning; devices-key==2 a.py:5; nodes-key==1 a.py:5"
        ),
    );
    expect(
        "devices=[0, 1, 5], num_nodes=2",
        "hpu",
        "; nodes=2; instances=6; suits=lightning; joined-by=lightning; devices-key==3 a.py:5; nodes-key==2 a.py:5",
    );
    let all = "; suits=lightning; joined-by=lightning; devices-key==all a.py:5";
    expect("devices='auto', num_nodes=2", "hpu", &format!("{all}; nodes-key==2 a.py:5"));
    expect("devices=-1, num_nodes=2", "hpu", &format!("{all}; nodes-key==2 a.py:5"));
    expect("num_nodes=2", "hpu", &format!("{all}; nodes-key==2 a.py:5"));
    expect(
        "accumulate_grad_batches=STEPS",
        "hpu",
        &format!("; accumulation=3; accumulation-from=accumulate_grad_batches a.py:4{all}; nodes-key==1 a.py:5"),
    );
    // The dictionary that is unpacked into the call may set both.
    expect("**more", "hpu", "; suits=lightning; joined-by=lightning");
    expect("devices=2", "rdu", "; alone=on");
}

#[test]
fn options_that_a_trainer_of_lightning_reads() {
    let script = "import argparse\nimport pytorch_lightning as pl\n\np = argparse.ArgumentParser()\n\
        p.add_argument('--gpus-per-node', type=int, default=4)\np.add_argument('--gather', type=int, default=2)\n\
        args = p.parse_args()\n\
        pl.Trainer(devices=args.gpus_per_node, accumulate_grad_batches=args.gather).fit(net)\n";
    check(
        &[("a.py", script)],
        "hpu",
        "entry=a.py; accumulation=2; accumulation-from=--gather a.py:6; accumulation-key=--gather; instances=4; \
         suits=lightning; joined-by=lightning; devices-key=--gpus-per-node; nodes-key==1 a.py:8",
    );
}

#[test]
fn a_number_that_the_command_line_does_not_reach() {
    let script = "import torch\nfrom torch.utils.data import DataLoader\nsize = 12\n\
        loader = DataLoader(data, batch_size=size, shuffle=True)\nfor x in loader:\n    net(x).backward()\n";
    check(&[("a.py", script)], "ipu", "entry=a.py; batch=12; batch-from=batch_size a.py:3");
    check(&[("a.py", &script.replace("=size", "=7"))], "ipu", "entry=a.py; batch=7; batch-from=batch_size a.py:4");
}

#[test]
fn a_configuration_that_the_program_loads_itself() {
    let script = "import torch, yaml\n\nwith open('conf/run.yaml') as file:\n    cfg = yaml.safe_load(file)\n\n\n\
        def main():\n    loss.backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    let config = "data:\n  batch_size: 24\ntrain:\n  epochs: 3\n  accumulate_grad_batches: 2\n";
    let check_path = |program: &str, load: &str| {
        let script = script.replace("with open('conf/run.yaml') as file:\n    cfg = yaml.safe_load(file)\n", load);
        check(
            &[(program, &script), ("conf/run.yaml", config), ("other.yaml", "batch_size: 99\n")],
            "hpu",
            &format!(
                "entry={program}; batch=24; batch-from=data.batch_size conf/run.yaml:2; accumulation=2; \
                 accumulation-from=train.accumulate_grad_batches conf/run.yaml:5; alone=on"
            ),
        );
    };
    check_path("run.py", "with open('conf/run.yaml') as file:\n    cfg = yaml.safe_load(file)\n");
    check_path("run.py", "cfg = yaml.load(open('./conf/run.yaml', 'r'), Loader=yaml.SafeLoader)\n");
    check_path("conf/run.py", "HERE = Path(__file__).parent\ncfg = yaml.safe_load((HERE / 'run.yaml').read_text())\n");
    check_path("run.py", "NAME = os.path.join('x', 'conf/run.yaml')\ncfg = yaml.safe_load(open(NAME))\n");
    check_path("run.py", "from omegaconf import OmegaConf\ncfg = OmegaConf.load('conf/run.yaml')\n");
    let option = "p.add_argument('--config-file', default='conf/run.yaml')\nargs = p.parse_args()\n\
        cfg = yaml.safe_load(open(args.config_file))\n";
    check_path("run.py", option);
    // A file that nothing names is not used.
    let named_elsewhere = script.replace("conf/run.yaml", "no.yaml");
    check(&[("run.py", &named_elsewhere), ("conf/run.yaml", config)], "hpu", "entry=run.py; alone=on");
}

#[test]
fn a_parser_in_another_file_and_the_program_that_trains_first() {
    let options = "def build():\n    p.add_argument('--batch_size', type=int, default=8)\n    return p\n";
    let train = "from lib.options import build\nimport torch\n\n\ndef main():\n    loss.backward()\n\n\n\
        if __name__ == '__main__':\n    main()\n";
    let other = "print('x')\nif __name__ == '__main__':\n    pass\n";
    check(
        &[("a_eval.py", other), ("lib/__init__.py", ""), ("lib/options.py", options), ("tools/train.py", train)],
        "hpu",
        "entry=tools/train.py; batch=8; batch-from=--batch_size lib/options.py:2; batch-key=--batch_size; alone=on",
    );
}

#[test]
fn a_program_of_one_process() {
    let one = "import torch\n\n\ndef main():\n    loss.backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    check(&[("a.py", one)], "hpu", "entry=a.py; alone=on");
    check(&[("a.py", &one.replace("loss", "DDP(net).loss"))], "hpu", "entry=a.py; joined-by=unread");
    let lookalikes =
        one.replace("def main", "# hello world, Frank\nclass Trainer:\n    note = 'of world rank'\n\n\ndef main");
    check(&[("a.py", &lookalikes)], "hpu", "entry=a.py; alone=on");
    let reads = |names: &str| one.replace("loss", &format!("start({names}).loss"));
    let started = |names: &str, fields: &str| check(&[("a.py", &reads(names))], "hpu", fields);
    started("os.environ['LOCAL_RANK']", "entry=a.py; suits=torchrun; joined-by=environment");
    started("os.environ['OMPI_COMM_WORLD_RANK']", "entry=a.py; suits=mpirun; joined-by=open-mpi");
    // A program that reads its rank from either can be started by either.
    started("os.environ['RANK'], os.environ['OMPI_COMM_WORLD_RANK']", "entry=a.py; joined-by=environment,open-mpi");
    check(&[("a.py", &reads("os.environ['OMPI_COMM_WORLD_RANK']"))], "ipu", "entry=a.py");
    check(&[("a.py", one)], "popdist", "entry=a.py; alone=on");
    check(&[("a.py", &one.replace("torch\n", "torch\nimport popdist\n"))], "popdist", "entry=a.py");
    check(&[("a.py", one)], "rdu", "entry=a.py; alone=on");
    let reads = "from sambaflow.samba.utils.argparser import parse_app_args\nimport torch\n\n\n\
        def main():\n    args = parse_app_args(sys.argv[1:])\n    loss.backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    check(&[("a.py", reads)], "rdu", "entry=a.py");
}

/// A key without a value that the program sets itself is not required; a trainer for another framework has no effect.
#[test]
fn what_the_program_sets_itself() {
    let assigned = TRAINER.replace("self.loss.b", "self.args.run.id = 'x'\n        self.loss.b");
    let horovod = "import horovod.tensorflow as hvd\nn = int(args.run.minibatch_size / hvd.size())\n";
    let main = MAIN.replace("import hydra", "import hydra, app.tf_trainer");
    let trainer = assigned.replace("/ self.world_size", "");
    let programs = read(&[
        ("app/config.py", CONFIG),
        ("app/conf/base.yaml", "defaults:\n  - base_config\n"),
        ("app/trainer.py", &trainer),
        ("app/tf_trainer.py", horovod),
        ("bin/exec.py", &main),
    ]);
    assert!(programs[0].settings.iter().all(|setting| !setting.required), "{programs:#?}");
    assert_eq!(programs[0].shared_batch, None);
    assert_eq!(programs[0].joins.len(), 1);
}

#[test]
fn nothing_to_read() {
    assert!(read(&[("a.py", "def broken(:\n"), ("b.py", "x = 1\n"), ("c.yaml", "- : :\n  -\n:")]).is_empty());
    // A configuration that contains itself, a class that is its own base, files that import each other.
    let round = "import hydra, b\nfrom hydra.core.config_store import ConfigStore\nclass A(A):\n    a: A = A()\n\
        cs.store(name='config', node=A)\n@hydra.main(config_path='.')\ndef main(c):\n    pass\n";
    let programs = read(&[("a.py", round), ("b.py", "import a\n")]);
    assert_eq!(programs.len(), 1);
    let loops = "defaults:\n  - config\n";
    assert_eq!(read(&[("a.py", round), ("config.yaml", loops)]).len(), 1);
}

/// Reading from the environment depends on a condition; so does starting processes.
#[test]
fn conditions_of_joining() {
    let program = "import argparse, os\nimport torch\nimport torch.multiprocessing as mp\n\n\
        parser = argparse.ArgumentParser()\n\
        parser.add_argument('--dist-url', default='tcp://127.0.0.1:1')\n\
        parser.add_argument('--world-size', default=-1, type=int)\n\
        parser.add_argument('--rank', default=-1, type=int)\n\
        parser.add_argument('--multiprocessing-distributed', action='store_true')\n\n\n\
        def main():\n    args = parser.parse_args()\n\
        \x20   if args.dist_url == 'env://' and args.world_size == -1:\n\
        \x20       args.world_size = int(os.environ['WORLD_SIZE'])\n\
        \x20   if args.multiprocessing_distributed:\n        mp.spawn(work, nprocs=8, args=(args,))\n\
        \x20   else:\n        work(0, args)\n\n\n\
        def work(gpu, args):\n    if args.dist_url == 'env://' and args.rank == -1:\n\
        \x20       args.rank = int(os.environ['RANK'])\n    loss.backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    let fields =
        "entry=a.py; suits=torchrun; joined-by=environment:--dist-url=env://; spawn-key=--multiprocessing-distributed";
    check(&[("a.py", program)], "hpu", fields);
    let plain = program.replace("args.dist_url == 'env://' and ", "");
    let fields = "entry=a.py; suits=torchrun; joined-by=environment; spawn-key=--multiprocessing-distributed";
    check(&[("a.py", &plain)], "hpu", fields);
}

/// How ranks are read, in ways found in public scripts.
#[test]
fn ways_of_joining() {
    let with = |head: &str, body: &str| {
        format!(
            "import os\nimport torch\n{head}\n\n\ndef main():\n{body}    loss.backward()\n\n\nif __name__ == '__main__':\n    main()\n"
        )
    };
    let fields = |head: &str, body: &str, expected: &str| check(&[("a.py", &with(head, body))], "hpu", expected);
    let torchrun = "entry=a.py; suits=torchrun; joined-by=environment";
    fields("import torch.distributed as dist", "    dist.init_process_group('gloo')\n", torchrun);
    fields("", "    torch.distributed.init_process_group(backend='gloo', init_method='env://')\n", torchrun);
    fields("from accelerate import Accelerator", "    accelerator = Accelerator()\n", torchrun);
    fields("from transformers import Trainer", "    Trainer(model).train()\n", torchrun);
    // A program that sets the rank knows it from elsewhere.
    let mpi = "    os.environ['RANK'] = str(MPI.COMM_WORLD.Get_rank())\n    os.environ.setdefault('LOCAL_RANK', '0')\n\
        \x20   torch.distributed.init_process_group('gloo', rank=MPI.COMM_WORLD.Get_rank(), world_size=2)\n";
    fields("from mpi4py import MPI", mpi, "entry=a.py; joined-by=mpi");
    let open_mpi = "    rank = os.environ['OMPI_COMM_WORLD_RANK']\n    os.environ['RANK'] = rank\n\
        \x20   torch.distributed.init_process_group('gloo')\n";
    fields("", open_mpi, "entry=a.py; suits=mpirun; joined-by=open-mpi");
    let elsewhere = "    torch.distributed.init_process_group('gloo', init_method='file:///x', rank=0, world_size=2)\n";
    fields("", elsewhere, "entry=a.py; joined-by=unread");
    fields(
        "import torch.multiprocessing as mp",
        "    mp.spawn(work, nprocs=8)\n    DDP(net)\n",
        "entry=a.py; instances=8; suits=program; joined-by=spawn; devices-key==8 a.py:7",
    );
    let either = "    if args.mpi:\n        rank = os.environ['OMPI_COMM_WORLD_RANK']\n    elif 'RANK' in os.environ:\n\
        \x20       rank = os.environ['RANK']\n";
    let parser = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--mpi', action='store_true')\nargs = parser.parse_args()";
    fields(parser, either, "entry=a.py; suits=torchrun; joined-by=environment,open-mpi:--mpi");
}

/// torchrun passes no option: a program that reads its device from one would put all processes on the first.
#[test]
fn a_place_from_an_option() {
    let program = |body: &str| {
        format!(
            "import argparse, os\nimport torch.distributed as dist\nparser = argparse.ArgumentParser()\n\
             parser.add_argument('--local_rank', type=int, default=-1)\nargs = parser.parse_args()\n\n\n\
             if __name__ == '__main__':\n    dist.init_process_group('gloo')\n{body}    loss.backward()\n"
        )
    };
    let line = |body: &str| {
        let text = program(body);
        let programs = read(&[("a.py", &text)]);
        programs[0].local_rank_option().map(|setting| setting.place.line)
    };
    assert_eq!(line(""), Some(4));
    assert_eq!(line("    args.local_rank = int(os.environ['LOCAL_RANK'])\n"), None);
    assert_eq!(line("    os.environ['LOCAL_RANK'] = str(args.local_rank)\n"), Some(4));
}

/// Hydra creates the Trainer that its configuration names.
#[test]
fn a_trainer_of_the_configuration() {
    let program = "import hydra\nimport torch\n\n\n@hydra.main(config_path='conf', config_name='train')\ndef main(cfg):\n\
        \x20   trainer = hydra.utils.instantiate(cfg.trainer)\n    trainer.fit(model)\n\n\nif __name__ == '__main__':\n    main()\n";
    let files = [
        ("a.py", program),
        ("conf/train.yaml", "defaults:\n  - trainer: default\n"),
        ("conf/trainer/default.yaml", "_target_: lightning.pytorch.trainer.Trainer\ndevices: 1\nnum_nodes: 1\n"),
    ];
    let expected = "entry=a.py; instances=1; suits=lightning; joined-by=lightning; devices-key=trainer.devices; \
        nodes-key=trainer.num_nodes";
    check(&files, "hpu", expected);
}

/// If a configuration has no key for the machines, it can be added, and so can one in a configuration that is unpacked
/// into the call.
#[test]
fn a_trainer_of_the_configuration_that_lacks_the_machines() {
    let program = |make: &str| {
        format!(
            "import hydra\nimport torch\nimport lightning as L\n\n\n@hydra.main(config_path='conf', config_name='train')\n\
             def main(cfg):\n    trainer = {make}\n    trainer.fit(model)\n\n\nif __name__ == '__main__':\n    main()\n"
        )
    };
    let expect = |make: &str, group: &str, expected: &str| {
        let files = [
            ("a.py", &*program(make)),
            ("conf/train.yaml", "defaults:\n  - trainer: default\n"),
            ("conf/trainer/default.yaml", group),
        ];
        check(&files, "hpu", expected);
    };
    let made = "hydra.utils.instantiate(cfg.trainer)";
    let keys = "suits=lightning; joined-by=lightning; devices-key=trainer.devices; nodes-key=+trainer.num_nodes";
    expect(made, "_target_: lightning.Trainer\ndevices: 8\n", &format!("entry=a.py; instances=8; {keys}"));
    expect(made, "_target_: lightning.Trainer\ndevices: auto\n", &format!("entry=a.py; {keys}"));
    expect("L.Trainer(**cfg.trainer)", "devices: 8\n", &format!("entry=a.py; instances=8; {keys}"));
    let none =
        "entry=a.py; suits=lightning; joined-by=lightning; devices-key=+trainer.devices; nodes-key=+trainer.num_nodes";
    expect(made, "_target_: lightning.pytorch.Trainer\nmax_epochs: 1\n", none);
    expect("L.Trainer(**cfg.trainer, logger=x)", "max_epochs: 1\n", none);
}

/// A program that starts processes itself is started once.
#[test]
fn programs_that_start_processes() {
    let with = |head: &str, body: &str| {
        format!(
            "import argparse\nimport os\nimport torch\n{head}\n\n\ndef work(rank, n):\n    \
             torch.distributed.init_process_group('hccl', rank=rank, world_size=n)\n    loss.backward()\n\n\n\
             def main():\n{body}\n\n\nif __name__ == '__main__':\n    main()\n"
        )
    };
    let fields = |head: &str, body: &str, expected: &str| {
        check(&[("a.py", &with(head, body))], "hpu", &format!("entry=a.py; {expected}"));
    };
    let mp = "import torch.multiprocessing as mp";
    let four = "instances=4; suits=program; joined-by=spawn; devices-key==4";
    fields(mp, "    n = 4\n    mp.spawn(work, args=(n,), nprocs=n)", &format!("{four} a.py:13"));
    fields(
        mp,
        "    for r in range(4):\n        mp.Process(target=work, args=(r, 4)).start()",
        &format!("{four} a.py:13"),
    );
    fields(
        "import multiprocessing",
        "    c = multiprocessing.get_context('spawn')\n    [c.Process(target=work, args=(r, 4)) for r in range(4)]",
        &format!("{four} a.py:14"),
    );
    fields(
        "from accelerate import notebook_launcher",
        "    notebook_launcher(work, (), 4)",
        &format!("{four} a.py:13"),
    );
    fields(
        mp,
        "    mp.spawn(work, nprocs=torch.hpu.device_count())",
        "suits=program; joined-by=spawn; devices-key==all a.py:13",
    );
    let option = "    p = argparse.ArgumentParser()\n    p.add_argument('--gpus', type=int, default=2)\n    \
        a = p.parse_args()\n    mp.spawn(work, args=(a.gpus,), nprocs=a.gpus)";
    fields(mp, option, "instances=2; suits=program; joined-by=spawn; devices-key=--gpus");
    // The index of the machine is read from the variable in which torchrun puts that of the process.
    let by_node = "    node = int(os.environ['RANK'])\n    mp.spawn(work, args=(node,), nprocs=4)";
    fields(mp, by_node, &format!("{four} a.py:14"));
    // Under torchrun this one starts none.
    let either = "    if 'RANK' in os.environ:\n        work(int(os.environ['RANK']), 4)\n    else:\n        mp.spawn(work, nprocs=4)";
    fields(mp, either, "suits=torchrun; joined-by=environment,spawn");
    let early =
        "    if 'RANK' in os.environ:\n        return work(int(os.environ['RANK']), 4)\n    mp.spawn(work, nprocs=4)";
    fields(mp, early, "suits=torchrun; joined-by=environment,spawn");
    // Processes that read data do not join.
    fields(mp, "    mp.Process(target=read).start()", "joined-by=unread");
    let fabric = "    fabric = Fabric(devices=4)\n    fabric.launch()\n    fabric.backward(loss)";
    let of_fabric = "instances=4; suits=lightning; joined-by=lightning; devices-key==4 a.py:13; nodes-key==1 a.py:13";
    fields("from lightning.fabric import Fabric", fabric, of_fabric);
    let cli = "suits=lightning; joined-by=lightning; devices-key=--trainer.devices; nodes-key=--trainer.num_nodes";
    fields("from lightning.pytorch.cli import LightningCLI", "    LightningCLI(Net)", cli);
    let optimizer = "from deepspeed.ops.adam import FusedAdam\nfrom lightning.pytorch.cli import LightningCLI";
    fields(optimizer, "    LightningCLI(Net)", cli);
}

/// The part before `--` is read by another parser, with options that the program passes to it.
#[test]
fn a_divided_command_line() {
    let program = "import sys\nimport argparse\nfrom sambaflow.samba.utils.argparser import parse_app_args\n\n\n\
        def add(parser):\n    parser.add_argument('--image-shape', type=int, nargs='*', required=True)\n\n\n\
        def main():\n    end = sys.argv.index('--') if '--' in sys.argv else len(sys.argv)\n\
        \x20   args = parse_app_args(argv=sys.argv[1:end], common_parser_fn=add)\n    sys.argv[1:] = sys.argv[end + 1:]\n\
        \x20   loss.backward()\n\n\nif __name__ == '__main__':\n    main()\n";
    check(&[("a.py", program)], "rdu", "entry=a.py; divided=on; ahead=--image-shape; needs=--image-shape");
    // Hydra reads the other part.
    let hydra = program.replace("def main():", "@hydra.main(version_base=None)\ndef main(config):");
    let hydra = format!("import hydra\n{hydra}");
    check(&[("a.py", &hydra)], "rdu", "entry=a.py; divided=on; ahead=--image-shape; needs=--image-shape");
}

#[test]
fn the_nearest_list_of_packages() {
    let program = ("src/net/a.py", "import torch\n\nfor x in loader:\n    loss.backward()\n");
    let list = |path: &'static str| (path, "numpy\n");
    check(
        &[program, list("src/requirements.txt"), list("requirements.txt")],
        "hpu",
        "entry=src/net/a.py; alone=on; requirements=src/requirements.txt",
    );
    check(
        &[program, list("requirements.txt"), list("docs/requirements.txt")],
        "hpu",
        "entry=src/net/a.py; alone=on; requirements=requirements.txt",
    );
    check(&[program, list("src/network/requirements.txt")], "hpu", "entry=src/net/a.py; alone=on");
}

/// How processes select their device: by the local rank, by an option that no launcher passes, or not at all.
#[test]
fn places_of_processes() {
    let program = |body: &str| {
        format!(
            "import argparse, os\nimport torch\nimport torch.distributed as dist\n\n\ndef main(rank):\n\
             \x20   dist.init_process_group('gloo')\n{body}    loss.backward()\n\n\nif __name__ == '__main__':\n    main(0)\n"
        )
    };
    let fields = |body: &str, more: &str| {
        check(&[("a.py", &program(body))], "hpu", &format!("entry=a.py; suits=torchrun; joined-by=environment{more}"));
    };
    fields("    net.to('hpu')\n", "; unplaced=on");
    fields("    net.to('hpu')\n    os.environ['LOCAL_RANK']\n", "");
    fields("    torch.hpu.set_device(rank)\n", "");
    fields("    net.to(f'hpu:{rank}')\n", "");
    fields("    net.to(rank)\n", "");
    fields("    torch.device('hpu', rank)\n", "");
    let option = "    p = argparse.ArgumentParser()\n    p.add_argument('--local_rank', type=int)\n    \
        torch.hpu.set_device(p.parse_args().local_rank)\n";
    fields(option, "; rank_option=--local_rank a.py:9");
}

#[test]
fn a_loop_that_a_target_compiles_is_a_program_too() {
    let script =
        "import torch\nimport steps\n\nfor inputs, targets in loader:\n    loss = steps.train_step(inputs, targets)\n";
    assert_eq!(read(&[("a.py", script)]).len(), 1);
    assert_eq!(read(&[("a.py", &script.replace("import torch\n", ""))]).len(), 0);
    assert_eq!(read(&[("a.py", "import torch\n\nfor name in NAMES:\n    table[name] = 1\n")]).len(), 0);
}

#[test]
fn a_switch_that_a_port_added() {
    let config = (
        "a.py",
        "from dataclasses import dataclass, field\nfrom hydra.core.config_store import ConfigStore\n\
        import hydra\n\n\n@dataclass\nclass Run:\n    lazy_mode: bool = False\n\n\n@dataclass\nclass Config:\n    \
        run: Run = field(default_factory=Run)\n\n\nConfigStore.instance().store(name='config', node=Config)\n\n\n\
        @hydra.main(version_base=None, config_name='config')\ndef main(config):\n    loss.backward()\n\n\n\
        if __name__ == '__main__':\n    main()\n",
    );
    check(&[config], "hpu", "entry=a.py; alone=on; switch_key=run.lazy_mode");
    check(&[config], "ipu", "entry=a.py");
}
