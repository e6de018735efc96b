"""As much of larcv's queue as a trainer asks for: constant sparse batches, whatever the file holds.

Follows the Python interface of larcv 3 (`queueloader`, `distributed_queue_interface`, `config_builder`, `larcv_writer`).
"""
