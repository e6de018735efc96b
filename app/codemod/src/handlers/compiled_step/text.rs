//! The Python that a port brings along.

/// What the helper block is made of.
pub(super) struct Helpers<'a> {
    pub(super) module: &'a str,
    /// Attributes of the module: the model first.
    pub(super) attributes: &'a [String],
    pub(super) parameters: &'a [String],
    /// Statements of its forward pass.
    pub(super) body: &'a [String],
    pub(super) results: &'a [String],
    pub(super) loss: &'a str,
    pub(super) opts: &'a str,
    /// The step's own function puts a part into evaluation mode and leaves it there.
    pub(super) frozen: bool,
    /// Further lines on the options.
    pub(super) more: Option<String>,
    /// Other modes must work without the package.
    pub(super) branch: bool,
    /// The model is called for inference.
    pub(super) infers: bool,
    /// A scheduler steps where the compiled step is out of reach.
    pub(super) updates: bool,
    pub(super) unit: &'a str,
    pub(super) quote: char,
}

impl Helpers<'_> {
    pub(super) fn write(&self) -> String {
        let (opts, module, q) = (self.opts, self.module, self.quote);
        let mut out = String::new();
        if self.branch {
            out.push_str(&format!(
                "if poptorch is not None:\n    {opts} = poptorch.Options()\n    {opts}.outputMode(poptorch.OutputMode.All)\n"
            ));
        } else {
            out.push_str(&format!("{opts} = poptorch.Options()\n{opts}.outputMode(poptorch.OutputMode.All)\n"));
        }
        let level = if self.branch { "    " } else { "" };
        for line in self.more.iter().flat_map(|m| m.lines()) {
            out.push_str(&format!("{level}{line}\n"));
        }
        if self.infers {
            out.push_str(&format!("{level}ipu_inference_opts = poptorch.Options()\n"));
        }
        out.push_str("ipu_training_steps = {}\n");
        if self.infers {
            out.push_str("ipu_inference_models = {}\n");
        }
        out.push_str("\n\n");
        let keep: String = self.attributes.iter().map(|a| format!("        self.{a} = {a}\n")).collect();
        let body: String = self.body.iter().map(|l| format!("        {}\n", l.replace('\n', "\n        "))).collect();
        let results: String = self.results.iter().map(|r| format!("{r}, ")).collect();
        out.push_str(&format!(
            "class TrainingStep({module}):\n    \"\"\"The model and its loss in one forward pass, which is what the IPU compiles.\"\"\"\n\n    \
             def __init__(self, {}):\n        super().__init__()\n{keep}\n    def forward(self, {}):\n{body}        \
             return {results}poptorch.identity_loss({}, reduction={q}mean{q})\n\n\n",
            self.attributes.join(", "),
            self.parameters.join(", "),
            self.loss,
        ));
        let train = if self.frozen { "" } else { "step.train()\n        " };
        let missing = if self.branch { "    require_poptorch()\n" } else { "" };
        let free = if self.infers { "    detach_from_ipu(ipu_inference_models.values())\n" } else { "" };
        if self.branch {
            out.push_str(&format!(
                "def require_poptorch():\n    \"\"\"Says what is missing where the IPU is asked for without its software.\"\"\"\n    \
                 if poptorch is None:\n        raise RuntimeError({q}The IPU needs poptorch, which comes with the Poplar SDK{q})\n\n\n"
            ));
        }
        out.push_str(&format!(
            "def detach_from_ipu(compiled_models):\n    \"\"\"Frees the IPU; the weights come back to the host.\"\"\"\n    \
             for compiled in compiled_models:\n        if compiled.isAttachedToDevice():\n            compiled.detachFromDevice()\n\n\n\
             def ipu_training_step(optimizer, *parts):\n    \"\"\"The compiled training step of an optimizer, made when it is first asked for.\"\"\"\n{missing}{free}    \
             if optimizer not in ipu_training_steps:\n        \
             step = TrainingStep(*parts)\n        {train}\
             ipu_training_steps[optimizer] = poptorch.trainingModel(step, options={opts}, optimizer=optimizer)\n    \
             return ipu_training_steps[optimizer]\n\n\n"
        ));
        if self.infers {
            out.push_str(&format!(
                "def ipu_inference(model):\n    \"\"\"The compiled forward pass of a model, made when it is first asked for.\"\"\"\n{missing}    \
             detach_from_ipu(ipu_training_steps.values())\n    if model not in ipu_inference_models:\n        model.eval()\n        \
             ipu_inference_models[model] = poptorch.inferenceModel(model, options=ipu_inference_opts)\n    \
             return ipu_inference_models[model]\n\n\n"
            ));
        }
        if self.updates {
            out.push_str(
                "def update_ipu_optimizer(optimizer):\n    \"\"\"Hands a new learning rate to the compiled step.\"\"\"\n    \
                 if optimizer in ipu_training_steps:\n        ipu_training_steps[optimizer].setOptimizer(optimizer)\n\n",
            );
        }
        self.indented(&out)
    }

    /// In the file's own unit of indentation.
    fn indented(&self, text: &str) -> String {
        text.split('\n')
            .map(|line| {
                let levels = line.bytes().take_while(|b| *b == b' ').count() / 4;
                format!("{}{}", self.unit.repeat(levels), &line[levels * 4..])
            })
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// How the package is imported: alone, or so that other modes work where it is missing.
pub(super) fn import(branch: bool, unit: &str) -> String {
    if branch {
        format!("\ntry:\n{unit}import poptorch\nexcept ImportError:\n{unit}poptorch = None\n")
    } else {
        "import poptorch".to_owned()
    }
}
