"""The driver of old programs. Source: https://docs.sambanova.ai/developer/latest/: `common_app_driver` is deprecated."""

from contracts import broken

from ..session import SESSION


def common_app_driver(args, model, inputs, optimizer=None, name=None, app_dir=None, **options):
    broken("rdu.driver", "common_app_driver is deprecated: call samba.session.compile, and trace_graph and session.run")
    if args.command == "compile":
        SESSION.compile(model, inputs, optimizer, name=name, app_dir=app_dir, config_dict=vars(args), **options)
