"""Where the numbers of a run live: each form gives `(lines at module level, lines where the program begins, how a setting is read)`."""

from registry import habit, needs


def shown(settings):
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())


@habit("settings")
def literals(d):
    d.form = lambda settings: ([], [], lambda name: repr(settings[name]))


@habit("settings")
def constants(d):
    d.form = lambda settings: ([f"{name.upper()} = {value!r}" for name, value in settings.items()], [], str.upper)


@habit("settings")
def dictionary(d):
    d.form = lambda settings: (["$config = {", *(f"    {name!r}: {value!r}," for name, value in settings.items()), "}"], [], "$config['{}']".format)


@habit("settings")
def argparse(d):
    d.use("import argparse")
    options = lambda settings: [f"parser.add_argument('--{name}', type={type(value).__name__}, default={value!r})" for name, value in settings.items()]  # noqa: E731
    d.form = lambda settings: ([], ["parser = argparse.ArgumentParser()", *options(settings), "$config = parser.parse_args()"], "$config.{}".format)


@habit("settings")
def dataclass(d):
    d.use("from dataclasses import dataclass")
    fields = lambda settings: [f"    {name}: {type(value).__name__} = {value!r}" for name, value in settings.items()]  # noqa: E731
    d.form = lambda settings: (["@dataclass", "class $Config:", *fields(settings), ""], ["$config = $Config()"], "$config.{}".format)


@habit("settings")
def namespace(d):
    d.use("from types import SimpleNamespace")
    d.form = lambda settings: ([f"$config = SimpleNamespace({shown(settings)})"], [], "$config.{}".format)


@habit("settings")
def class_attributes(d):
    d.form = lambda settings: (["class $Config:", *(f"    {name} = {value!r}" for name, value in settings.items()), ""], [], "$Config.{}".format)


@habit("settings", needs(structure="main_function functions several_files trainer_class"))
def default_arguments(d):
    d.main_parameters = True
    d.form = lambda settings: ([], [], "${}".format)


@habit("settings")
def yaml_file(d):
    def form(settings):
        d.files["config.yaml"] = "".join(f"{name}: {value}\n" for name, value in settings.items())
        return [], ["with open('config.yaml') as f:", "    $config = yaml.safe_load(f)"], "$config['{}']".format

    d.use("import yaml")
    d.form = form


@habit("settings")
def another_file(d):
    def form(settings):
        d.files["config.py"] = "".join(f"{name.upper()} = {value!r}\n" for name, value in settings.items())
        return [], [], lambda name: f"config.{name.upper()}"

    d.use("import config")
    d.form = form


@habit("settings")
def omegaconf(d):
    d.use("from omegaconf import OmegaConf")
    d.form = lambda settings: ([], ["$config = OmegaConf.create({" + ", ".join(f"{n!r}: {v!r}" for n, v in settings.items()) + "})"], "$config.{}".format)
