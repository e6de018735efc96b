"""Puts a draft together: as a script, in functions, in a class or in several files.

A role that one part sets and another reads becomes a parameter, a result, an attribute or a plain name; which, is found by parsing the parts.
"""

import ast
import re

from draft import indent
from names import Names

ROLE = re.compile(r"\$(\w+)")
# What a module defines.
OF_MODULE = {"Net", "Data", "Trainer", "Config", "main", "train_epoch", "evaluate", "get_loaders", "build", "compute_loss", "fit"}


def lines_of(*parts):
    return [line for part in parts for block in part for line in block.splitlines()]


def roles(lines):
    """The roles that lines set and those that they read, in the order in which they first occur."""
    tree = ast.parse("\n".join(["async def f():", *indent(ROLE.sub(r"role__\1", line) for line in lines), "    pass"]).replace("OUT", "1"))
    # A loop control is no error outside of its loop to `ast`.
    found = {ast.Store: {}, ast.Load: {}}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id.startswith("role__"):
            found[type(node.ctx)][node.id[6:]] = None
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found[ast.Load][node.target.id[6:]] = None
    order = list(dict.fromkeys(ROLE.findall("\n".join(lines))))
    return [[role for role in order if role in found[kind] and role not in OF_MODULE] for kind in (ast.Store, ast.Load)]


class Program:
    """The files of a program, and the one that is started."""

    def __init__(self, files, main, names):
        self.files, self.main, self.names = files, main, names


class Assembly:
    def __init__(self, draft, opaque=False):
        self.d, self.names = draft, Names(draft.seed, {name for line in draft.imports for name in bound(line)}, opaque)
        self.of_module = set(OF_MODULE)
        d = draft
        module, begin, reads = d.form(d.settings)
        self.at_module, self.begin, self.reads = module, begin, reads
        made = self.loaders()
        placed, self.places = ([], {}) if d.slices else d.place(made)
        self.start = lines_of(begin, d.seeds, d.devices)
        self.data = lines_of(d.data, placed)
        self.setup = lines_of(self.model(), d.after_model, d.setup_loss, [d.optimizer], d.setup_scaler, d.setup_schedule, d.setup_extra)
        self.before = lines_of(d.before_epochs)
        self.train = self.training()
        self.evaluation = list(d.evaluation)
        self.end, self.finish = lines_of(d.end_epoch), lines_of(d.finish)
        for name in ("start", "data", "setup", "before", "train", "evaluation", "end", "finish"):
            setattr(self, name, [self.settled(line) for line in getattr(self, name)])
        if any("$config" in line for line in module) and d.structure != "files":
            self.of_module.add("config")

    def settled(self, line):
        """With places for roles that live in others, and reads of settings."""
        line = ROLE.sub(lambda found: self.places.get(found[1], found[0]), line)
        return ROLE.sub(lambda found: self.reads(found[1]) if found[1] in self.d.settings else found[0], line)

    def loaders(self):
        d, made = self.d, {}
        for which, options in d.loader_options.items():
            size = "$batch_size" if which == "train" else d.valid_batch
            options = [*options, *(["**{'num_workers': 0}"] if d.loader_kwargs else [])]
            made[which] = f"DataLoader(${which}_set, batch_size={size}{''.join(', ' + option for option in options)})"
        return made

    def model(self):
        d = self.d
        made = re.sub(r"\bOUT\b", str(d.outputs), d.model)
        if d.move_under:
            return [f"$model = {made}", f"if {d.move_under}:", "    $model.cuda()"]
        if d.draw("moves model", True, False) or d.move == "{}":
            return [f"$model = {d.on_device(made)}"]
        return [f"$model = {made}", d.on_device("$model")] if ".cuda" in d.move or ".to" in d.move else [f"$model = {made}"]

    def compute(self):
        d = self.d
        inner = lines_of(d.forward, d.loss, d.more_loss)
        return [*d.before_forward, *([f"with {d.autocast}:", *indent(inner)] if d.autocast else inner)]

    def updates(self):
        d = self.d
        clip = [*(["$scaler.unscale_($optimizer)"] if d.scaled and d.clip else []), *d.clip]
        update = ["$scaler.step($optimizer)", "$scaler.update()"] if d.scaled else ["$optimizer.step()"]
        return [*clip, *update, *d.after_update, *d.per_update]

    def step(self):
        d = self.d
        loss = "$loss"
        divide = ["$loss = $loss / $accum"] if d.divide_in_place else []
        if d.scale_loss != "$loss":
            divide, loss = (["$loss = " + d.scale_loss], "$loss") if d.draw("divides", True, False) else ([], d.scale_loss)
        backward = [f"$scaler.scale({loss}).backward()" if d.scaled else f"{f'({loss})' if ' ' in loss else loss}.backward()", *d.after_backward]
        compute = [*self.compute(), *d.before_backward, *divide]
        if d.accumulate:
            return [*compute, *backward, f"if {d.accumulate}:", *indent([*self.updates(), *d.clear])]
        return {
            "clear first": [*d.clear, *compute, *backward, *self.updates()],
            "clear before backward": [*compute, *d.clear, *backward, *self.updates()],
            "clear last": [*compute, *backward, *self.updates(), *d.clear],
        }[d.order]

    def training(self):
        """One epoch."""
        d = self.d
        if d.phases:
            return self.phases()
        body = [*d.before_batch, *d.unpack, *self.step(), *d.after_step]
        if d.slices:
            loop = ["for $i in range(0, len($inputs), $batch_size):", "    $x, $y = $inputs[$i:$i + $batch_size], $targets[$i:$i + $batch_size]"]
            body = [*d.before_batch, *self.step(), *d.after_step]
        else:
            item = f"({d.item})" if "," in d.item else d.item
            loop = [f"for $i, {item} in enumerate($train_loader):" if d.counts_batches or d.accumulate else f"for {d.item} in $train_loader:"]
        rest = [f"if {d.rest}:", *indent([*self.updates(), *d.clear])] if d.rest else []
        return lines_of(["$model.train()"], d.begin_epoch, d.clear if d.accumulate else [], loop, indent(body), rest, d.report)

    def phases(self):
        d = self.d
        loader = '$loaders[$phase]'
        item = f"({d.item})" if "," in d.item else d.item
        loop = f"for $i, {item} in enumerate({loader}):" if d.counts_batches else f"for {d.item} in {loader}:"
        compute = lines_of(d.forward, d.loss, d.more_loss)
        if d.autocast:
            compute = [f"with {d.autocast}:", *indent(compute)]
        backward = ["$scaler.scale($loss).backward()" if d.scaled else "$loss.backward()", *d.after_backward, *self.updates()]
        return lines_of(d.begin_epoch, [
            'for $phase in ["train", "val"]:', '    if $phase == "train":', "        $model.train()", "    else:", "        $model.eval()",
            "    $total, $seen = 0.0, 0", f"    {loop}", *indent(indent([
                *d.unpack, *d.before_forward, *d.clear, 'with torch.set_grad_enabled($phase == "train"):', *indent([*compute, 'if $phase == "train":', *indent(backward)]),
                "$total += $loss.item() * $x.size(0)", "$seen += $x.size(0)"])),
            "    print(f'{$epoch} {$phase} loss {$total / $seen:.4f}')"])

    # ------------------------------------------------------------------------------------------------ to text

    def said(self, lines, places=None):
        """Lines with the names of a program. `places`: roles that live elsewhere, such as attributes."""
        places = places or {}
        return [re.sub(r"\bOUT\b", str(self.d.outputs), ROLE.sub(lambda found: places.get(found[1]) or self.names[found[1]], line)) for line in lines]

    def part_as_function(self, name, part, available, wanted, decorator=None):
        """A function of a part, and its call. `available`: roles set before; `wanted`: roles read behind it."""
        sets, reads = roles(part)
        takes = [role for role in dict.fromkeys([*reads, *sets]) if role in available and role not in self.of_module]
        gives = [role for role in sets if role in wanted or role in takes and role in available]
        head = [*([decorator] if decorator else []), f"def ${name}({', '.join('$' + role for role in takes)}):"]
        body = [*part, *(["return " + ", ".join("$" + role for role in gives)] if gives else [])]
        call = f"${name}({', '.join('$' + role for role in takes)})"
        return [*head, *indent(body)], [f"{', '.join('$' + role for role in gives)} = {call}" if gives else call]

    def parts(self):
        """The parts as the main function runs them, with those in functions defined beside it."""
        d, split = self.d, self.d.structure in ("functions", "files")
        functions, start, data, train, evaluation = {}, self.start, self.data, self.train, self.evaluation
        known = {"epoch"} | set(d.settings if d.main_parameters else ())
        before = known | set(roles(start)[0])
        later = [*self.setup, *self.before, *train, *evaluation, *self.end, *self.finish]
        if split:
            functions["get_loaders"], data = self.part_as_function("get_loaders", data, before, set(roles(later)[1]))
            before |= set(roles(data)[0])
        else:
            before |= set(roles(data)[0])
        before |= set(roles([*self.setup, *self.before])[0])
        if split:
            functions["train_epoch"], train = self.part_as_function(
                "train_epoch", train, before, set(roles([*self.end, *self.finish])[1]) - {"x", "y", "loss", "out"})
        if d.evaluation_place == "function":
            # The loop's own names are set anew in it.
            wanted = set(roles([*self.end, *self.finish])[1]) & {"valid_mean"} | {"valid_mean"}
            functions["evaluate"], evaluation = self.part_as_function("evaluate", evaluation, before - {"x", "y", "loss", "out", "i", "batch"}, wanted, d.decorator)
        return functions, start, data, train, evaluation

    def epochs(self, train, evaluation):
        """The loop over epochs, and what comes after it."""
        d = self.d
        if d.evaluation_when:
            evaluation = [f"if {self.settled(d.evaluation_when)}:", *indent([*evaluation, "print(f'validation {$valid_mean:.4f}')"])]
        after = []
        if d.evaluation_place == "after":
            evaluation, after = [], [*evaluation, "print('final', round($valid_mean, 4))"]
        return [self.settled("for $epoch in range($epochs):"), *indent([*train, *evaluation, *self.end]), *after, *self.finish]

    def program(self):
        return {"script": self.script, "main": self.in_main, "functions": self.in_main, "class": self.in_class, "files": self.in_files}[self.d.structure]()

    def head(self):
        return [line for block in (*self.d.models, *self.d.datasets, *self.d.helpers) for line in [*block, "", ""]]

    def module(self, body, definitions=()):
        text = "\n".join(self.said([*definitions, *body])) + "\n"
        return "\n".join([*imports(self.d.imports, text), "", ""]) + text

    def script(self):
        functions, start, data, train, evaluation = self.parts()
        body = [*start, *data, *self.setup, *self.before, *self.epochs(train, evaluation)]
        defined = [line for function in functions.values() for line in [*function, "", ""]]
        return self.one_file([*self.at_module, "", *self.head(), *defined, *body])

    def one_file(self, lines):
        return Program({**self.d.files, "train.py": self.module(lines)}, "train.py", self.names)

    def main_of(self, body):
        parameters = ", ".join(f"${name}={value!r}" for name, value in self.d.settings.items()) if self.d.main_parameters else ""
        return [f"def $main({parameters}):", *indent(body), "", "", 'if __name__ == "__main__":', "    $main()"]

    def in_main(self):
        functions, start, data, train, evaluation = self.parts()
        body = [*start, *data, *self.setup, *self.before, *self.epochs(train, evaluation)]
        defined = [line for function in functions.values() for line in [*function, "", ""]]
        return self.one_file([*self.at_module, "", *self.head(), *defined, *self.main_of(body)])

    def in_class(self):
        d = self.d
        seeds = self.start
        method = d.evaluation_place == "function"
        made = [*self.data, *self.setup, *self.before]
        fit = self.epochs(["self.$train_epoch($epoch)"], ["$valid_mean = self.$evaluate()"] if method else self.evaluation)
        used = set(sum(roles([*self.train, *self.evaluation, *fit]), []))
        given = set(d.settings) if d.main_parameters else {"config"} if any("$config" in line for line in self.begin) else set()
        kept = {role for role in [*roles(made)[0], *roles(seeds)[0]] if role in used} | (given & (used | set(roles(made)[1])))
        attributes = {role: f"self.{self.names[role]}" for role in sorted(kept)}
        begun = [line for line in seeds if line not in self.begin]
        parameters = sorted(given)
        defaults = ", ".join(["self", *(f"${name}={d.settings[name]!r}" if d.main_parameters else f"${name}" for name in parameters)])
        keep = [f"self.{self.names[role]} = {self.names[role]}" for role in parameters if role in attributes]
        call = f"$Trainer({'' if d.main_parameters else ', '.join('$' + name for name in parameters)}).$fit()"
        body = [
            "class $Trainer:", *indent([f"def __init__({defaults}):", *indent(keep)]), *indent(indent(self.said([*begun, *made], attributes))), "",
            "    def $train_epoch(self, $epoch):", *indent(indent(self.said(self.train, attributes))), "",
            *([*(["    " + d.decorator] if d.decorator else []), "    def $evaluate(self):", *indent(indent(self.said([*self.evaluation, "return $valid_mean"], attributes))), ""] if method else []),
            "    def $fit(self):", *indent(indent(self.said(fit, attributes))), "", "",
            *self.main_of_class([line for line in seeds if line in self.begin], call)]
        return self.one_file([*self.at_module, "", *self.head(), *body])

    def main_of_class(self, begin, call):
        return ['if __name__ == "__main__":', *indent([*begin, call])]

    def in_files(self):
        functions, start, data, train, evaluation = self.parts()
        body = [*start, *data, *self.setup, *self.before, *self.epochs(train, evaluation)]
        blank = lambda blocks: [line for block in blocks for line in [*block, "", ""]]  # noqa: E731
        dictionary = any("$config" in line for line in self.at_module)
        modules = {
            "hparams": list(self.at_module),
            "models": blank(self.d.models),
            "data": [*blank(self.d.datasets), *blank([functions["get_loaders"]])],
            "engine": [*blank(self.d.helpers), *blank(functions[name] for name in ("train_epoch", "evaluate") if name in functions)],
            "train": self.main_of(body),
        }
        texts = {name: "\n".join(self.said(lines)).strip("\n") + "\n" for name, lines in modules.items() if any(lines)}
        files = dict(self.d.files)
        defined = {name: [node for line in text.splitlines() for node in re.findall(r"^(?:def |class )(\w+)|^(\w+) = ", line)] for name, text in texts.items()}
        for name, text in texts.items():
            own, read = [], {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            for other, found in defined.items():
                wanted = sorted({one or two for one, two in found} & read)
                if other not in (name, "train") and wanted:
                    own.append(f"from {other} import {', '.join(wanted)}")
            files[f"{name}.py"] = "\n".join([*imports(self.d.imports, text), *(["", *own] if own else []), "", "", text]).lstrip()
        return Program(files, "train.py", self.names)


def bound(line):
    """The names that an import brings."""
    names = line.partition("import ")[2].split(", ")
    return [name.split(" as ")[-1].split(".")[0] for name in names]


def imports(lines, text):
    """The imports that a text uses, one from each module."""
    used = lambda name: re.search(rf"\b{name}\b", text)  # noqa: E731
    plain = [line for line in lines if line.startswith("import ") and used(bound(line)[0])]
    gathered = {}
    for line in lines:
        if line.startswith("from "):
            gathered.setdefault(line.partition(" import ")[0], set()).update(filter(used, bound(line)))
    return [*sorted(plain), *(f"{module} import {', '.join(sorted(names))}" for module, names in sorted(gathered.items()) if names)]
