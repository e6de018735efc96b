"""PopTorch's stand-in against PyTorch's own loop: losses, weights and states of the optimizers, to the last bit.

    python3 rehearsal/tests/test_ipu_numbers.py
"""

import copy
import pathlib
import random
import sys
import unittest
from unittest import mock

import torch
from torch import nn
from torch.nn import functional as F

KIT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(KIT / folder) for folder in ("recorder", "ipu")]

import compiled_program  # noqa: E402
import contracts  # noqa: E402
import poptorch  # noqa: E402

X, Y = torch.randn(96, 8, generator=torch.Generator().manual_seed(1)), torch.arange(96) % 3


class Net(nn.Module):
    """A bit of everything that makes numbers: a normalization with its statistics, a dropout, a loss."""

    def __init__(self, loss=None):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.norm, self.drop, self.last = nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.3), nn.Linear(16, 3)
        self.loss = loss or nn.CrossEntropyLoss()

    def forward(self, x, y=None):
        out = self.last(self.drop(torch.relu(self.norm(self.first(x)))))
        return out if y is None else (out, self.loss(out, y))


class Small(nn.Module):
    """One weight matrix; `body` is what forward does with it."""

    def __init__(self, body, **attributes):
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.body = nn.Linear(8, 3), body
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, x, y):
        return self.body(self, x, y)


def batches(size, count=6):
    return [(X[i * size:(i + 1) * size], Y[i * size:(i + 1) * size]) for i in range(count)]


def plain(net, optimizer, size, count=6, parts=1, mean=True, clip=None):
    """PyTorch's loop: each batch in `parts` micro-batches, one step a batch. Gives the loss of each micro-batch."""
    torch.manual_seed(7)
    losses = []
    for x, y in batches(size, count):
        optimizer.zero_grad()
        for small_x, small_y in zip(x.chunk(parts), y.chunk(parts)):
            loss = net(small_x, small_y)[-1]
            (loss / parts if mean else loss).backward()
            losses.append(loss.item())
        if clip:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        optimizer.step()
    return losses


def wrapped(model, size, count=6):
    """The same on the IPU; gives every loss that comes back."""
    torch.manual_seed(7)
    return [loss for x, y in batches(size, count) for loss in model(x, y)[-1].reshape(-1).tolist()]


class Numbers(unittest.TestCase):
    def setUp(self):
        contracts._broken.clear()

    def same_weights(self, a, b, **close):
        for (name, one), other in zip(a.named_parameters(), b.parameters()):
            if close:
                torch.testing.assert_close(one.detach(), other.detach(), **close, msg=name)
            else:
                self.assertTrue(torch.equal(one, other), f"{name} differs by {(one - other).abs().max()}")

    def broken(self, *rules):
        self.assertEqual(sorted(contracts._broken), sorted(rules), contracts._broken)


class Optimizers(Numbers):
    KINDS = {
        "SGD": [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}],
        "Adam": [{"lr": 0.01}, {"lr": 0.01, "weight_decay": 0.1, "betas": (0.8, 0.99)}],
        "AdamW": [{"lr": 0.01}, {"lr": 0.01, "weight_decay": 0.1, "eps": 1e-6}],
        "RMSprop": [{"lr": 0.01}, {"lr": 0.01, "momentum": 0.9, "centered": True, "alpha": 0.9}],
    }

    def test_steps_are_those_of_pytorch(self):
        for kind, variants in self.KINDS.items():
            for options in variants:
                for module in (torch.optim, poptorch.optim):
                    with self.subTest(kind=kind, module=module.__name__, **options):
                        net, own = Net(), Net()
                        model = poptorch.trainingModel(own, optimizer=getattr(module, kind)(own.parameters(), **options))
                        self.assertEqual(wrapped(model, 8), plain(net, getattr(torch.optim, kind)(net.parameters(), **options), 8))
                        self.same_weights(own, net)
                        self.assertTrue(torch.equal(own.norm.running_var, net.norm.running_var))
                        self.broken()

    def test_the_state_is_that_of_pytorch(self):
        net, own = Net(), Net()
        optimizer, given = torch.optim.AdamW(net.parameters(), lr=0.01), poptorch.optim.AdamW(own.parameters(), lr=0.01)
        model = poptorch.trainingModel(own, optimizer=given)
        plain(net, optimizer, 8)
        wrapped(model, 8)
        state = given.state_dict()["ipu_state"]
        for name, parameter in net.named_parameters():
            for part, value in optimizer.state[parameter].items():
                self.assertTrue(torch.equal(torch.as_tensor(value), state[f"{part}___{name}"]), f"{part} of {name}")

    def test_groups_keep_their_rates(self):
        def groups(net, kind):
            return kind([{"params": net.first.parameters(), "lr": 0.5}, {"params": [*net.norm.parameters(), *net.last.parameters()]}], lr=0.1)

        net, own = Net(), Net()
        model = poptorch.trainingModel(own, optimizer=groups(own, poptorch.optim.SGD))
        self.assertEqual(wrapped(model, 8), plain(net, groups(net, torch.optim.SGD), 8))
        self.same_weights(own, net)

    def test_dampening_counts_from_the_first_step(self):
        own, net = (Small(lambda s, x, y: F.cross_entropy(s.fc(x), y)) for _ in range(2))
        before = own.fc.weight.detach().clone()
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=1.0, momentum=0.9, dampening=0.5))
        model(X[:8], Y[:8])
        net(X[:8], Y[:8]).backward()
        torch.testing.assert_close(own.fc.weight.detach(), before - 0.5 * net.fc.weight.grad)

    def test_clipping(self):
        net, own = Net(), Net()
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=0.5, max_grad_norm=0.1))
        losses = wrapped(model, 8)
        expected = plain(net, torch.optim.SGD(net.parameters(), lr=0.5), 8, clip=0.1)
        torch.testing.assert_close(torch.tensor(losses), torch.tensor(expected), rtol=1e-5, atol=1e-6)
        self.same_weights(own, net, rtol=1e-4, atol=1e-6)
        self.assertNotEqual(losses, plain(Net(), torch.optim.SGD(Net().parameters(), lr=0.5), 8))

    def test_lamb_and_the_variant_of_tensorflow_train(self):
        for optimizer in (lambda p: poptorch.optim.LAMB(p, lr=0.02), lambda p: poptorch.optim.RMSprop(p, lr=0.01, momentum=0.5, use_tf_variant=True)):
            own = Net()
            model = poptorch.trainingModel(own, optimizer=optimizer(own.parameters()))
            losses = [wrapped(model, 8) for _ in range(8)]
            self.assertLess(sum(losses[-1]), sum(losses[0]))

    def test_parameters_of_no_group_are_stepped_too(self):
        own = Small(lambda s, x, y: F.cross_entropy(s.other(s.fc(x)), y), other=nn.Linear(3, 3))
        before = own.other.weight.detach().clone()
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.fc.parameters(), lr=0.1))
        model(X[:8], Y[:8])
        self.assertFalse(torch.equal(own.other.weight, before))
        self.broken("ipu.optimizer-parameters")

    def test_frozen_parameters_stay(self):
        own = Small(lambda s, x, y: F.cross_entropy(s.other(s.fc(x)), y), other=nn.Linear(3, 3).requires_grad_(False))
        before = own.other.weight.detach().clone()
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=0.1, weight_decay=0.1))
        model(X[:8], Y[:8])
        self.assertTrue(torch.equal(own.other.weight, before))


class Batches(Numbers):
    def model(self, own, options, lr=0.1):
        return poptorch.trainingModel(own, options, poptorch.optim.SGD(own.parameters(), lr=lr, momentum=0.9))

    def test_accumulation_is_a_mean(self):
        net, own, options = Net(), Net(), poptorch.Options().outputMode(poptorch.OutputMode.All)
        options.Training.gradientAccumulation(4)
        model = self.model(own, options)
        self.assertEqual(wrapped(model, 16), plain(net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), 16, parts=4))
        self.same_weights(own, net)

    def test_accumulation_of_three_up_to_rounding(self):
        net, own, options = Net(), Net(), poptorch.Options()
        options.Training.gradientAccumulation(3)
        model = self.model(own, options)
        wrapped(model, 12)
        plain(net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), 12, parts=3)
        self.same_weights(own, net, rtol=1e-5, atol=1e-6)

    def test_or_a_sum(self):
        net, own, options = Net(), Net(), poptorch.Options()
        options.Training.gradientAccumulation(4).accumulationAndReplicationReductionType(poptorch.ReductionType.Sum)
        model = self.model(own, options)
        wrapped(model, 16)
        plain(net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), 16, parts=4, mean=False)
        self.same_weights(own, net)

    def test_device_iterations_are_steps(self):
        net, own, options = Net(), Net(), poptorch.Options().deviceIterations(3).outputMode(poptorch.OutputMode.All)
        model = self.model(own, options)
        self.assertEqual(wrapped(model, 24, 2), plain(net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), 8, 6))
        self.same_weights(own, net)

    def test_replicas_share_weights_and_have_statistics_of_their_own(self):
        own, options = Net(), poptorch.Options().replicationFactor(2)
        model = self.model(own, options)
        out, loss = model(X[:16], Y[:16])
        self.assertEqual((tuple(out.shape), tuple(loss.shape)), ((16, 3), (2,)))
        other = Net()
        other(X[:8], Y[:8])
        self.assertTrue(torch.equal(own.norm.running_mean, other.norm.running_mean))
        own = Net()
        model = self.model(own, options)
        wrapped(model, 16)
        frozen = Net()
        plain(frozen, torch.optim.SGD(frozen.parameters(), lr=0.1, momentum=0.9), 16, parts=2)
        self.same_weights(own, frozen)

    def test_the_order_of_micro_batches(self):
        options = poptorch.Options().deviceIterations(2).replicationFactor(2).outputMode(poptorch.OutputMode.All)
        options.Training.gradientAccumulation(2)
        own = Small(lambda s, x, y: (x, F.cross_entropy(s.fc(x), y)))
        out, _ = poptorch.trainingModel(own, options, poptorch.optim.SGD(own.parameters(), lr=0.0))(X[:16], Y[:16])
        self.assertTrue(torch.equal(out, X[:16]))

    def test_output_modes(self):
        def given(mode, *period):
            options = poptorch.Options().deviceIterations(4).outputMode(mode, *period)
            own = Small(lambda s, x, y: x * 1)
            return poptorch.inferenceModel(own.eval(), options)(X[:8], Y[:8])

        rows = X[:8].reshape(4, 2, 8)
        for mode, expected in ((poptorch.OutputMode.All, X[:8]), (poptorch.OutputMode.Final, rows[3]), (poptorch.OutputMode.Sum, rows.sum(0)),
                               (poptorch.OutputMode.Default, X[:8])):
            torch.testing.assert_close(given(mode), expected)
        torch.testing.assert_close(given(poptorch.OutputMode.EveryN, 2), torch.cat([rows[1], rows[3]]))

    def test_types(self):
        own = Small(lambda s, x, y: (x.double() * 2, y, F.cross_entropy(s.fc(x), y)))
        double, whole, _ = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=0.1))(X[:8].double(), Y[:8])
        self.assertEqual((double.dtype, whole.dtype), (torch.float32, torch.int32))


class Losses(Numbers):
    def gradient(self, body):
        """The change of one step with rate 1, turned round."""
        own = Small(body)
        before = own.fc.weight.detach().clone()
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=1.0))
        model(X[:8], Y[:8])
        return before - own.fc.weight.detach()

    def expected(self, body):
        own = Small(body)
        loss = own(X[:8], Y[:8])
        loss.backward()
        return own.fc.weight.grad

    def check(self, body, as_in_pytorch, *rules):
        torch.testing.assert_close(self.gradient(body), self.expected(as_in_pytorch), rtol=1e-4, atol=1e-6)
        self.broken(*rules)
        contracts._broken.clear()

    def test_the_gradient_of_ones(self):
        whole = lambda s, x, y: F.cross_entropy(s.fc(x), y, reduction="sum")  # noqa: E731
        self.check(lambda s, x, y: F.cross_entropy(s.fc(x), y, reduction="none"), whole)
        self.check(lambda s, x, y: poptorch.identity_loss(F.cross_entropy(s.fc(x), y, reduction="none"), "none"), whole)
        self.check(lambda s, x, y: poptorch.identity_loss(F.cross_entropy(s.fc(x), y, reduction="none"), "mean"), lambda s, x, y: F.cross_entropy(s.fc(x), y))

    def test_what_is_done_behind_the_loss_has_no_gradient(self):
        mean = lambda s, x, y: F.cross_entropy(s.fc(x), y)  # noqa: E731
        self.check(lambda s, x, y: F.cross_entropy(s.fc(x), y) * 2, mean, "ipu.identity-loss")
        self.check(lambda s, x, y: F.cross_entropy(s.fc(x), y, reduction="none").mean(), lambda s, x, y: F.cross_entropy(s.fc(x), y, reduction="sum"),
                   "ipu.identity-loss")
        self.check(lambda s, x, y: poptorch.identity_loss(F.cross_entropy(s.fc(x), y) * 2, "none"), lambda s, x, y: F.cross_entropy(s.fc(x), y) * 2)

    def test_the_mean_over_a_batch_of_kl_div(self):
        def kl(s, x, reduction):
            return F.kl_div(F.log_softmax(s.fc(x), 1), torch.softmax(x[:, :3], 1), reduction=reduction)

        self.check(lambda s, x, y: kl(s, x, "batchmean"), lambda s, x, y: kl(s, x, "sum"), "ipu.identity-loss")
        self.check(lambda s, x, y: poptorch.identity_loss(kl(s, x, "batchmean"), "none"), lambda s, x, y: kl(s, x, "batchmean"))

    def test_parts_of_forward_without_gradients(self):
        def body(s, x, y):
            with torch.no_grad():
                weight = s.fc(x).abs().mean()
            return poptorch.identity_loss(F.cross_entropy(s.fc(x), y) * weight * s.fc(x).detach().abs().mean(), "none")

        self.check(body, body)


class Compiled(Numbers):
    """What Python decides in forward is decided once."""

    def losses(self, own, steps=3, change=lambda own: None):
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=0.0))
        losses = []
        for _ in range(steps):
            losses.append(model(X[:8], Y[:8]).item())
            change(own)
        return losses

    def test_a_number_that_changes(self):
        def count(own):
            own.factor += 1

        losses = self.losses(Small(lambda s, x, y: poptorch.identity_loss(F.cross_entropy(s.fc(x), y) * s.factor, "none"), factor=1), change=count)
        self.assertEqual(len(set(losses)), 1)

    def test_a_branch_and_a_choice(self):
        random.seed(0)
        losses = self.losses(Small(lambda s, x, y: poptorch.identity_loss(F.cross_entropy(s.fc(x), y) * random.random(), "none")), steps=4)
        self.assertEqual(len(set(losses)), 1)

    def test_random_numbers_of_pytorch_are_new_each_time(self):
        losses = self.losses(Small(lambda s, x, y: F.cross_entropy(F.dropout(s.fc(x), 0.5), y)), steps=4)
        self.assertEqual(len(set(losses)), 4)
        losses = self.losses(Small(lambda s, x, y: F.cross_entropy(s.fc(x) + torch.randn(8, 3), y)), steps=4)
        self.assertEqual(len(set(losses)), 4)

    def test_compiling_draws_nothing_and_changes_no_statistics(self):
        own = Net()
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=0.1))
        state = torch.get_rng_state()
        model.compile(X[:8], Y[:8])
        self.assertTrue(torch.equal(state, torch.get_rng_state()))
        self.assertTrue(torch.equal(own.norm.running_mean, torch.zeros(16)))

    @unittest.skipUnless(compiled_program.indexing_is_shown(), "PyTorch shows a mode no index")
    def test_compiling_leaves_the_class_of_tensors_alone(self):
        self.losses(Small(lambda s, x, y: F.cross_entropy(s.fc(x)[:, :3], y)), steps=1)
        angle = torch.tensor(0.5)
        self.assertEqual(torch.tensor([[torch.cos(angle), 0], [0, torch.cos(angle)]]).shape, (2, 2))

    def test_whole_numbers_are_constants(self):
        own = Net()
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=0.1))
        wrapped(model, 8)
        self.assertEqual(int(own.norm.num_batches_tracked), 0)

    def test_indexing_and_views(self):
        def body(s, x, y):
            out = s.fc(x)
            out = torch.cat([out[:, :1] * 2, out[:, 1:]], dim=1)
            return F.cross_entropy(out[:4], y[:4])

        net = Small(body)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        expected = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = net(X[:8], Y[:8])
            loss.backward()
            optimizer.step()
            expected.append(loss.item())
        own = Small(body)
        model = poptorch.trainingModel(own, optimizer=poptorch.optim.SGD(own.parameters(), lr=0.1))
        self.assertEqual([model(X[:8], Y[:8]).item() for _ in range(3)], expected)


class Weights(Numbers):
    """Which weights the host and the IPU have, and when."""

    def make(self, kind=poptorch.optim.SGD, **options):
        own = Net()
        return own, poptorch.trainingModel(own, optimizer=kind(own.parameters(), **{"lr": 0.1, **options}))

    def test_reading_a_parameter_brings_the_weights_back(self):
        own, model = self.make()
        storage = own.first.weight.data
        before = storage.clone()
        model(X[:8], Y[:8])
        self.assertTrue(torch.equal(storage, before))
        self.assertFalse(torch.equal(own.first.weight, before))
        self.assertFalse(torch.equal(storage, before))

    def test_and_so_do_state_dict_and_parts_of_the_model(self):
        own, model = self.make()
        before = own.first.weight.detach().clone()
        model(X[:8], Y[:8])
        self.assertFalse(torch.equal(own.first.state_dict()["weight"], before))
        model(X[:8], Y[:8])
        whole = copy.deepcopy(own)
        self.assertIs(type(whole), Net)
        self.assertIs(type(whole.first.weight), nn.Parameter)
        self.same_weights(whole, own)

    def test_what_the_host_writes_stays_there(self):
        own, model = self.make(lr=0.0)
        model(X[:8], Y[:8])
        with torch.no_grad():
            own.last.bias.fill_(5.0)
        model(X[:8], Y[:8])
        self.assertNotEqual(own.last.bias[0].item(), 5.0)
        with torch.no_grad():
            own.last.bias.fill_(5.0)
        model.copyWeightsToDevice()
        model(X[:8], Y[:8])
        self.assertEqual(own.last.bias[0].item(), 5.0)

    def test_load_state_dict_of_the_wrapper(self):
        own, model = self.make(lr=0.0)
        state = {name: torch.zeros_like(value) for name, value in Net().state_dict().items()}
        model(X[:8], Y[:8])
        own.load_state_dict(state)
        self.assertNotEqual(model(X[:8], Y[:8])[0].abs().sum().item(), 0.0)
        model.load_state_dict(state)
        self.assertEqual(model(X[:8], Y[:8])[0].abs().sum().item(), 0.0)

    def test_states_of_poptorchs_optimizers_outlive_detaching(self):
        for kind, keeps in ((poptorch.optim.SGD, True), (torch.optim.SGD, False)):
            with self.subTest(kind=kind.__module__):
                net, (own, model) = Net(), self.make(kind, momentum=0.9)
                plain(net, torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9), 8)
                torch.manual_seed(7)
                for number, (x, y) in enumerate(batches(8)):
                    model(x, y)
                    if number == 2:
                        model.detachFromDevice()
                self.assertEqual(all(torch.equal(a, b) for a, b in zip(own.parameters(), net.parameters())), keeps)
                self.broken(*([] if keeps else ["ipu.optimizer-state-kept"]))

    def test_a_state_that_is_saved_and_loaded(self):
        net = Net()
        plain(net, torch.optim.AdamW(net.parameters(), lr=0.1), 8)
        own, model = self.make(poptorch.optim.AdamW)
        torch.manual_seed(7)
        for x, y in batches(8)[:3]:
            model(x, y)
        weights, state = copy.deepcopy(own.state_dict()), copy.deepcopy(model._optimizer.state_dict())
        model.destroy()
        self.assertIs(type(own), Net)
        generator = torch.get_rng_state()
        other = Net()
        torch.set_rng_state(generator)
        other.load_state_dict(weights)
        optimizer = poptorch.optim.AdamW(other.parameters(), lr=0.1)
        optimizer.load_state_dict(state)
        model = poptorch.trainingModel(other, optimizer=optimizer)
        for x, y in batches(8)[3:]:
            model(x, y)
        self.same_weights(other, net)

    def test_the_rate_is_the_one_of_the_last_set_optimizer(self):
        own, model = self.make()
        model(X[:8], Y[:8])
        model._optimizer.param_groups[0]["lr"] = 0.0
        before = own.first.weight.detach().clone()
        model(X[:8], Y[:8])
        self.assertFalse(torch.equal(own.first.weight, before))
        self.broken("ipu.set-optimizer")
        model.setOptimizer(model._optimizer)
        before = own.first.weight.detach().clone()
        model(X[:8], Y[:8])
        self.assertTrue(torch.equal(own.first.weight, before))

    def test_inference_has_the_weights_of_when_it_was_loaded(self):
        own, model = self.make()
        model(X[:8], Y[:8])
        other = copy.deepcopy(own).eval()
        model.detachFromDevice()
        infer = poptorch.inferenceModel(other)
        first = infer(X[:8])
        torch.testing.assert_close(first, other(X[:8]))
        infer.detachFromDevice()
        model(X[:8], Y[:8])
        model.detachFromDevice()
        self.assertTrue(torch.equal(infer(X[:8]), first))

    def test_inference_of_the_same_model_takes_over_what_was_trained(self):
        own, model = self.make()
        own.eval()
        poptorch.executor.os.environ["STAND_IN_IPUS"] = "2"
        self.addCleanup(poptorch.executor.os.environ.pop, "STAND_IN_IPUS")
        infer = poptorch.inferenceModel(own)
        infer.compile(X[:8])
        own.train()
        for _ in range(2):
            model(X[:8], Y[:8])
            given = infer(X[:8])
            own.eval()
            torch.testing.assert_close(given, own(X[:8]).detach())
            own.train()


class Loaders(Numbers):
    DATA = torch.utils.data.TensorDataset(torch.arange(50), torch.arange(50) * 2)

    def test_one_process_reads_as_pytorch_does(self):
        options = poptorch.Options().deviceIterations(2)
        for shuffle in (False, True):
            torch.manual_seed(3)
            own = [x.tolist() for x, _ in poptorch.DataLoader(options, self.DATA, batch_size=4, shuffle=shuffle)]
            torch.manual_seed(3)
            self.assertEqual(own, [x.tolist() for x, _ in torch.utils.data.DataLoader(self.DATA, batch_size=8, shuffle=shuffle, drop_last=True)])

    def part(self, process, shuffle=True, passes=1, **kwargs):
        options = poptorch.Options()
        options.Distributed.configureProcessId(process, 3)
        options.randomSeed(5)
        loader = poptorch.DataLoader(options, self.DATA, batch_size=4, shuffle=shuffle, **kwargs)
        return [[i for x, _ in loader for i in x.tolist()] for _ in range(passes)]

    def test_processes_share_one_permutation(self):
        parts = [self.part(process, passes=2) for process in range(3)]
        for turn in range(2):
            seen = [i for part in parts for i in part[turn]]
            self.assertEqual((len(seen), len(set(seen))), (48, 48))
        self.assertNotEqual(parts[0][0], parts[0][1])
        self.assertEqual([self.part(process, shuffle=False)[0] for process in range(3)], [list(range(i * 16, i * 16 + 16)) for i in range(3)])
        self.assertEqual(self.part(1, shuffle=False, auto_distributed_partitioning=False)[0], list(range(48)))

    def test_asynchronous_batches_are_written_over(self):
        loader = poptorch.DataLoader(poptorch.Options(), self.DATA, batch_size=10, mode=poptorch.DataLoaderMode.Async)
        kept = [x for x, _ in loader]
        self.assertEqual([x[0].item() for x in kept], [30, 40, 20, 30, 40])

    def test_a_sampler_of_batches(self):
        options = poptorch.Options().deviceIterations(2)
        sampler = torch.utils.data.BatchSampler(range(50), 5, False)
        self.assertEqual([x.tolist() for x, _ in poptorch.DataLoader(options, self.DATA, batch_sampler=sampler)],
                         [list(range(i, i + 10)) for i in range(0, 50, 10)])


class Memory(Numbers):
    """What a step takes at least: weights, state, and what is kept for the backward pass."""

    def noted(self, size, kind="Adam", limit=0, **options):
        from poptorch import memory

        net = nn.Sequential(nn.Linear(8, 16, bias=False), nn.ReLU(), nn.Linear(16, 4, bias=False))
        own = Small(lambda self, x, y: (self.net(x), nn.functional.cross_entropy(self.net(x), y)), net=net)
        own.fc = nn.Identity()
        with mock.patch.object(memory, "IN_PROCESSOR_MEMORY", limit), mock.patch.object(memory.twin, "note") as note:
            wrapped(poptorch.trainingModel(own, optimizer=getattr(torch.optim, kind)(own.parameters(), lr=0.1, **options)), size, count=1)
        return note.call_args[0][1] if note.called else None

    def test_a_step_that_fits_is_not_noted(self):
        self.assertIsNone(self.noted(8, limit=900e6))

    def test_weights_and_state_are_counted(self):
        from poptorch import memory

        counted = []
        with mock.patch.object(memory.twin, "note", lambda kind, text: counted.append(text)), mock.patch.object(memory, "IN_PROCESSOR_MEMORY", 0):
            for kind, values in {"SGD": {}, "Adam": {}, "RMSprop": {"momentum": (0.9, True), "centered": (True, True)}}.items():
                memory.note([torch.zeros(50 * 10**6, requires_grad=True)], {"kind": kind, "groups": [values]}, 0, 1)
        shares = [float(text.split(" take ")[1].split(" GB")[0]) for text in counted]
        self.assertEqual(shares, [0.2, 0.6, 0.8])

    def test_a_larger_batch_keeps_more(self):
        from poptorch import memory

        kept = []
        for size in (8, 16):
            weight, batch = torch.randn(8, 8, requires_grad=True), X[:size].clone()
            activations = memory.Activations([weight])
            with activations.counted():
                torch.relu(batch @ weight).sum()
            kept.append(activations.bytes)
        # The batch, and what `relu` returned.
        self.assertEqual(kept, [2 * 8 * 8 * 4, 2 * 16 * 8 * 4])

    def test_a_step_that_does_not_fit_is_noted(self):
        self.assertIn("a smaller batch", self.noted(8))


if __name__ == "__main__":
    unittest.main()
