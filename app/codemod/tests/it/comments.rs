//! Comments: they go with the code that they are about, and stay otherwise.

use crate::ports::{check, check_bytes, port_script};
use codemod::RemovedComment;

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
}

/// The comments that the port of a text removes, each by the edit that names it, with its line.
#[track_caller]
fn check_removed(before: &str, removed: &[&str]) {
    for before in [before.to_owned(), before.replace('\n', "\r\n")] {
        let ported = port_script("hpu", &before);
        let mut named = Vec::new();
        for edit in &ported.files[0].edits {
            for RemovedComment { line, text, .. } in &edit.comments_removed {
                assert!(before[edit.start..edit.end].contains(text), "{edit:?}");
                named.push(format!("{line} {text}"));
            }
        }
        assert_eq!(named, removed);
        let of_file: Vec<String> = removed.iter().map(|comment| format!("a.py:{comment}")).collect();
        assert_eq!(ported.certificate.comments_removed, of_file);
        assert!(ported.certificate.comments_kept);
    }
}

#[test]
fn an_edit_names_the_comments_that_it_removes() {
    check_removed("run()\n# room\ntorch.cuda.empty_cache()  # now\n", &["2 # room", "3 # now"]);
    check_removed("# room\n\nrun()\n# room\ntorch.cuda.empty_cache()\n", &["4 # room"]);
    check_removed("run()\n# the next\ntorch.cuda.empty_cache()\ngo()\n", &[]);
    check_removed("x = 1\nx.cuda()  # moved\n", &[]);
    // All of a statement that is emptied, with the comments in it.
    check_removed(
        "import torch\n\n# Speed\ntorch.backends.cudnn.benchmark = True  # fast\ntorch.backends.cudnn.enabled = True\n\ngo()\n",
        &["3 # Speed", "4 # fast"],
    );
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
