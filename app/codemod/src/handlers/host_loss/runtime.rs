//! The class that holds what is compiled: written once into the ported script.

use super::RUNTIME;
use super::optimizer::Kind;
use crate::facts::FileView;
use crate::settings::Settings;
use crate::tree::Id;

/// What is compiled, as far as the class has to know it.
pub(super) struct Program<'a> {
    pub(super) view: &'a FileView<'a>,
    pub(super) settings: &'a Settings<'a>,
    /// A name for each tensor that the model is given.
    pub(super) inputs: &'a [String],
    /// The optimizers that the program chooses from.
    pub(super) kinds: Vec<Kind>,
    /// A place where torch is known.
    pub(super) anchor: Id,
    /// Whether the program runs on other machines, too.
    pub(super) beside_other_modes: bool,
    /// Whether the model gives its loss first, so that one run does the whole step.
    pub(super) in_one_run: bool,
}

impl Program<'_> {
    /// The class and its one instance, in the file's indentation.
    pub(super) fn text(&self) -> String {
        let shapes = self.shapes();
        let options: String = self
            .inputs
            .iter()
            .enumerate()
            .map(|(n, name)| {
                let option = name.replace('_', "-");
                let known = shapes.get(n).and_then(Option::as_deref);
                let asked = match known {
                    None => "required=True".to_owned(),
                    Some("") => "default=()".to_owned(),
                    Some(sizes) => format!("default=({sizes},)"),
                };
                format!(
                    "        parser.add_argument(\"--{option}-shape\", type=int, nargs=\"*\", {asked})\n        \
                     parser.add_argument(\"--{option}-dtype\", choices=(\"bfloat16\", \"int64\"), default=\"bfloat16\")\n"
                )
            })
            .collect();
        let names = self.inputs.iter().map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ");
        let text = TEMPLATE
            .replace("CLASS", RUNTIME)
            .replace("        OPTIONS\n", &options)
            .replace("    CALL\n", if self.beside_other_modes { CALL } else { "" })
            .replace("    STEP\n", if self.in_one_run { ONE_RUN } else { TWO_RUNS })
            .replace("        FEED\n", FEED)
            .replace("DOES", if self.in_one_run { ALL_THERE } else { LOSS_HERE })
            .replace("NAMES", &format!("({names},)"))
            .replace("HYPERPARAMETERS", &self.hyperparameters())
            .replace("TORCH", &self.torch().unwrap_or_else(|| "torch".to_owned()))
            .replace("PROGRAM", &program(self.view.path));
        // Gradients of the outputs are the program's to give where the loss is on the host.
        let text = if self.in_one_run {
            text.replace("                init_output_grads=True,\n", "").replace(" init_output_grads=True,", "")
        } else {
            text
        };
        let quoted = crate::rewrite::requote(&text, '"');
        let unit = &self.view.layout.indent;
        quoted
            .lines()
            .map(|line| {
                let depth = (line.len() - line.trim_start().len()) / 4;
                format!("{}{}", unit.repeat(depth), line.trim_start())
            })
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The name under which the file knows torch, if it has one for the module itself.
    pub(super) fn torch(&self) -> Option<String> {
        let spelled = self.view.names.spelling(&self.view.index, self.anchor, "torch.zeros_like")?;
        spelled.strip_suffix(".zeros_like").map(str::to_owned)
    }

    /// What every update is given, as a Python tuple: of several optimizers the one in use decides.
    fn hyperparameters(&self) -> String {
        let tuple = |kind: &Kind| {
            let names: Vec<String> = kind.hyperparameters().iter().map(|h| format!("\"{h}\"")).collect();
            format!("({},)", names.join(", "))
        };
        let has = |sgd: bool| self.kinds.iter().find(|k| (**k == Kind::Sgd) == sgd).map(tuple);
        match (has(true), has(false)) {
            (Some(sgd), Some(adam)) => format!("({sgd} if \"momentum\" in group else {adam})"),
            (one, other) => one.or(other).unwrap_or_default(),
        }
    }

    /// Shapes that the user gave (`--option input_shape=3x224x224,scalar`), as the elements of a tuple.
    fn shapes(&self) -> Vec<Option<String>> {
        let given = self.settings.values.get("input_shape").map_or("", String::as_str);
        given
            .split(',')
            .map(|shape| {
                if shape.trim() == "scalar" {
                    return Some(String::new());
                }
                let sizes: Vec<&str> = shape.split('x').map(str::trim).collect();
                sizes.iter().all(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit())).then(|| sizes.join(", "))
            })
            .collect()
    }
}

/// The name of the compiled program: the file's.
fn program(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.strip_suffix(".py").unwrap_or(file);
    let name: String = stem.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    if name.is_empty() { "train".to_owned() } else { name }
}

const CALL: &str = r#"    def call(self, model, *tensors):
        """The model on the RDU while it trains, else on the host with the weights as they are by now."""
        if model is not self.model:
            return model(*tensors)
        return self.forward(*tensors) if model.training else self.evaluate(*tensors)

"#;

const LOSS_HERE: &str = "forward pass and update run on the RDU, the loss on the host";
const ALL_THERE: &str = "forward pass, loss and update run on the RDU, in one go";

/// Inputs with their names, and what was compiled loaded with the first of them.
const FEED: &str = r#"        self.inputs = []
        for name, tensor in zip(self.names, tensors):
            shape, dtype = self.expected(name)
            if tuple(tensor.shape) != shape or tensor.dtype.is_floating_point != dtype.is_floating_point:
                raise ValueError(f"{name} is {tensor.dtype} {tuple(tensor.shape)}, compiled was {dtype} {shape}")
            self.inputs.append(samba.from_torch_tensor(tensor.to(dtype), name=name, batch_dim=0))
        if not self.is_traced:
            self.trace()
"#;

/// Forward pass, then the user's loss on the host, then the rest.
const TWO_RUNS: &str = r#"    def forward(self, *tensors):
        """One batch, forward. The host's graph begins at what comes back."""
        if any(output.grad is not None for output in self.outputs):
            raise RuntimeError("every batch is followed by an update on an RDU; gradients of several are not gathered")
        FEED
        outputs = samba.session.run(
            input_tensors=self.inputs,
            output_tensors=self.model.output_tensors,
            section_types=["fwd"],
            data_parallel=self.args.data_parallel,
            reduce_on_rdu=self.args.reduce_on_rdu,
        )
        self.outputs = [samba.to_torch(output).float().detach().requires_grad_() for output in outputs]
        return self.outputs[0] if len(self.outputs) == 1 else tuple(self.outputs)

    def update(self):
        """Backward pass and update, from the gradients that the loss left at the outputs."""
        if not self.outputs:
            raise RuntimeError("an update without a forward pass on the RDU before it")
        group = self.optimizer.param_groups[0]
        grads = [TORCH.zeros_like(out) if out.grad is None else out.grad for out in self.outputs]
        samba.session.run(
            input_tensors=self.inputs,
            output_tensors=self.model.output_tensors,
            section_types=["bckwd", "opt"],
            grad_of_outputs=[samba.from_torch_tensor(grad.bfloat16()) for grad in grads],
            hyperparam_dict={name: float(group[name]) for name in HYPERPARAMETERS if name in group},
            data_parallel=self.args.data_parallel,
            reduce_on_rdu=self.args.reduce_on_rdu,
        )
        self.outputs = []
        self.is_ahead = True

"#;

/// The loss is the model's first output, as in SambaNova's tutorials.
const ONE_RUN: &str = r#"    def step(self, *tensors):
        """One batch forward, backward and into the weights. The model gives its loss first."""
        FEED
        group = self.optimizer.param_groups[0]
        outputs = samba.session.run(
            input_tensors=self.inputs,
            output_tensors=self.model.output_tensors,
            hyperparam_dict={name: float(group[name]) for name in HYPERPARAMETERS if name in group},
            data_parallel=self.args.data_parallel,
            reduce_on_rdu=self.args.reduce_on_rdu,
        )
        self.is_ahead = True
        loss, *others = [samba.to_torch(output).float() for output in outputs]
        return (loss.mean(), *others) if others else loss.mean()

"#;

const TEMPLATE: &str = r#"class CLASS:
    """The model as SambaFlow compiles it: DOES."""

    names = NAMES

    def __init__(self):
        self.args = None
        self.model = None
        self.outputs = []
        self.is_traced = self.is_ahead = False

    def read_command_line(self):
        """What stands in front of `--` is SambaFlow's, the rest is the program's own."""
        if samba is None:
            raise RuntimeError("SambaFlow is not installed here, and this program trains on an RDU")
        end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
        self.args = parse_app_args(argv=sys.argv[1:end], common_parser_fn=self.add_options)
        if self.args.command not in ("compile", "run"):
            raise SystemExit(f"this program knows compile and run, not {self.args.command}")
        sys.argv[1:] = sys.argv[end + 1:]

    @staticmethod
    def add_options(parser):
        OPTIONS

    def compiles(self):
        if self.args is None:
            raise RuntimeError("start this program as compile or as run --pef=FILE; its own arguments follow --")
        return self.args.command == "compile"

    def expected(self, name):
        """Shape and type of an input, the same at compile and at run."""
        shape = (self.args.batch_size, *getattr(self.args, f"{name}_shape"))
        return shape, getattr(TORCH, getattr(self.args, f"{name}_dtype"))

    def take(self, model):
        """Hands the model over, before its optimizer is made."""
        self.compiles()
        self.model = model.bfloat16()
        samba.from_torch_model_(self.model)

    def start(self, optimizer):
        """Compiles and ends the program. A run loads what was compiled with its first batch."""
        self.optimizer = optimizer
        if self.args.command == "compile":
            samba.session.compile(
                self.model,
                self.dummies(),
                optimizer,
                name="PROGRAM",
                app_dir=samba_utils.get_file_dir(__file__),
                init_output_grads=True,
                config_dict=vars(self.args),
                pef_metadata=get_pefmeta(self.args, self.model),
            )
            raise SystemExit(0)

    def dummies(self):
        """Inputs without data, by which the model is traced."""
        inputs = []
        for name in self.names:
            shape, dtype = self.expected(name)
            inputs.append(samba.from_torch_tensor(TORCH.zeros(shape, dtype=dtype), name=name, batch_dim=0))
        return inputs

    def trace(self):
        """Loads what was compiled, with the weights as they are: a checkpoint has been read by now."""
        samba_utils.trace_graph(self.model, self.dummies(), self.optimizer, init_output_grads=True, pef=self.args.pef)
        self.is_traced = True

    CALL
    STEP
    def fetch(self):
        """Brings the weights to the host, if the RDU has newer ones."""
        if self.is_ahead:
            samba.session.to_cpu(self.model)
            self.is_ahead = False

    def evaluate(self, *tensors):
        """The model on the host, with the weights as they are by now."""
        self.fetch()
        tensors = [tensor.bfloat16() if tensor.dtype.is_floating_point else tensor for tensor in tensors]
        outputs = self.model(*tensors)
        if isinstance(outputs, (tuple, list)):
            return tuple(samba.to_torch(output).float() for output in outputs)
        return samba.to_torch(outputs).float()


rdu = CLASS()"#;
