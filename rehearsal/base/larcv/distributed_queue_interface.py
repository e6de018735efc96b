"""The queue over MPI ranks: the batch asked for is that of all ranks."""

from mpi4py import MPI

from . import queueloader


class queue_interface(queueloader.queue_interface):
    def _share(self, minibatch_size):
        ranks = MPI.COMM_WORLD.Get_size()
        if minibatch_size % ranks:
            raise ValueError(f"a minibatch of {minibatch_size} cannot be divided among {ranks} ranks")
        return minibatch_size // ranks
