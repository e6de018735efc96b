//! Comments: they go with the code that they are about, and stay otherwise.

use crate::ports::{check, check_bytes, in_place, port_files, port_script};

#[test]
fn comments_go_with_all_that_they_speak_of() {
    check_bytes("hpu", "run()\ntorch.cuda.empty_cache()  # room for the next\n", "run()\n");
    check_bytes("hpu", "run()\n# room for the next\ntorch.cuda.empty_cache()\n\ngo()\n", "run()\n\ngo()\n");
    check_bytes("hpu", "run()\n\n# room for\n# the next\ntorch.cuda.empty_cache()\n\ngo()\n", "run()\n\ngo()\n");
    // They refer to remaining code, too, or to nothing that was removed.
    check_bytes("hpu", "run()\n# the next\ntorch.cuda.empty_cache()\ngo()\n", "run()\n# the next\ngo()\n");
    check_bytes("hpu", "run()\n# the next\n\ntorch.cuda.empty_cache()\ngo()\n", "run()\n# the next\n\ngo()\n");
    check_bytes("hpu", "run()\n# %% the next\ntorch.cuda.empty_cache()\n\ngo()\n", "run()\n# %% the next\n\ngo()\n");
    check_bytes("hpu", "# A program.\ntorch.cuda.empty_cache()\n\ngo()\n", "# A program.\n\ngo()\n");
    check_bytes("hpu", "run()\n# Empty the cache\ntorch.cuda.empty_cache()\ngo()\n", "run()\ngo()\n");
    check_bytes(
        "hpu",
        "run()\n# Empty the cache and go\ntorch.cuda.empty_cache()\ngo(cache)\n",
        "run()\n# Empty the cache and go\ngo(cache)\n",
    );
    // A comment about GPUs is above the first line.
    check_bytes("hpu", "run()\n# free the GPU\ntorch.cuda.empty_cache()\ngo()\n", "run()\ngo()\n");
    check_bytes("hpu", "run()\n# free GPU\ntorch.cuda.empty_cache()\nfree()\n", "run()\n# free GPU\nfree()\n");
    let ported = port_files(&[("a.py", "run()\n# room\ntorch.cuda.empty_cache()  # now\n")], &in_place("hpu"));
    assert_eq!(ported.certificate.comments_removed, ["a.py:2 # room", "a.py:3 # now"]);
}

#[test]
fn comments_in_a_call_stay() {
    check(
        "hpu",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,\n    device_ids=[rank],\n    static_graph=True,  # same\n)\n",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,\n    static_graph=True,  # same\n)\n",
    );
    check(
        "hpu",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,  # all of it\n    device_ids=[rank],  # ours\n    static_graph=True,\n)\n",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,  # all of it\n    # ours\n    static_graph=True,\n)\n",
    );
    check(
        "hpu",
        "import torch\ntorch.backends.cudnn.benchmark = (\n    True  # see 12\n)\nx = 1\n",
        "import torch\n# see 12\nx = 1\n",
    );
}

#[test]
fn many_lines_of_comments_stay() {
    let many = "    # a\n\n    #  b\n".repeat(40);
    let text = |call: &str| format!("def f():\n{many}    x = y{call}\n{many}{many}");
    check("rdu", &text(".cuda()"), &text(""));
    assert!(port_script("rdu", &text(".cuda()")).certificate.comments_kept);
}
