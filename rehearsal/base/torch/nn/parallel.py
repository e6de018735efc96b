from stand_in_calls import record

from . import Module


class DistributedDataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, find_unused_parameters=False, bucket_cap_mb=None,
                 broadcast_buffers=True, gradient_as_bucket_view=False, static_graph=False, **_):
        from .. import distributed

        if not distributed.is_initialized():
            raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
        where = {value.device.type for value in module.parameters()}
        if device_ids and where == {"hpu"}:
            raise ValueError("DistributedDataParallel device_ids must be None on hpu")
        record("DDP", device=sorted(where)[0] if where else "cpu", device_ids=device_ids)
        self.module = module

    def no_sync(self):
        import contextlib

        return contextlib.nullcontext()

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)
