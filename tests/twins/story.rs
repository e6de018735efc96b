//! Two runs compared: the calls, either normalised for both machines or exactly.

use crate::machine::Calls;

/// The calls of either machine in a normalised form, without those that a correct port changes or drops.
pub(crate) fn common_story(calls: &Calls) -> Vec<String> {
    let mut story = Vec::new();
    for (name, details) in calls {
        let name = name.replace("torch.hpu.", "torch.cuda.").replace("accelerator.sync", "torch.cuda.sync");
        let own = ["import ", "GradScaler.", "mark_step", "torch.cuda.manual_seed"];
        let dropped = ["torch.cuda.device", "torch.cuda.set_device", "torch.cuda.empty_cache"];
        if own.iter().any(|prefix| name.starts_with(prefix)) || dropped.contains(&name.as_str()) {
            continue;
        }
        let mut words = vec![name.clone()];
        for (key, value) in details {
            // Validation may run without gradients now; DDP has no device numbers; memory is pinned for another device.
            if matches!(key.as_str(), "grad" | "device_ids" | "pin_memory_device" | "map_location" | "use_cuda") {
                continue;
            }
            let value = value.to_string().replace("hpu_backend", "inductor").replace("hpu", "cuda");
            words.push(format!(
                "{key}={}",
                value.replace("hccl", "nccl").replace("float16", "half").replace("bhalf", "half")
            ));
        }
        story.push(words.join(" "));
    }
    story
}

/// The same, exactly; only gradients in validation may be missing.
pub(crate) fn own_story(calls: &Calls) -> Vec<String> {
    let told = calls.iter().map(|(name, details)| {
        let details: Vec<_> =
            details.iter().filter(|(key, _)| *key != "grad").map(|(k, v)| format!("{k}={v}")).collect();
        format!("{name} {}", details.join(" "))
    });
    told.collect()
}

pub(crate) fn assert_same_story(what: &str, before: &[String], after: &[String]) {
    let at = before.iter().zip(after).position(|(a, b)| a != b).unwrap_or(before.len().min(after.len()));
    let nothing = "nothing".to_owned();
    assert!(
        before == after,
        "{what}: call {at} was `{}` and is `{}`",
        before.get(at).unwrap_or(&nothing),
        after.get(at).unwrap_or(&nothing)
    );
}

/// No CUDA, and every computation is on the card.
pub(crate) fn assert_on_hpu(calls: &Calls) {
    for (name, details) in calls {
        assert!(!name.starts_with("torch.cuda."), "{name} is called on an HPU machine");
        for (key, value) in details {
            assert!(!value.to_string().contains("cuda"), "{name} {key}={value} on an HPU machine");
        }
        if matches!(name.as_str(), "backward" | "DDP") {
            assert_eq!(details["device"], "hpu", "{name}");
        }
    }
    let at = |wanted: &str| calls.iter().position(|(name, _)| name == wanted);
    if let Some(group) = at("init_process_group")
        && calls[group].1["backend"] == "hccl"
    {
        assert!(at("import hccl").is_some_and(|import| import < group), "hccl is imported behind init_process_group");
    }
}

/// In lazy mode a graph ends directly after backward and after the optimizer's step; in eager mode steps are not
/// marked.
pub(crate) fn assert_marks(calls: &Calls, lazy: bool) {
    for (n, (name, _)) in calls.iter().enumerate() {
        if matches!(name.as_str(), "backward" | "optimizer.step") {
            let next = calls.get(n + 1).map_or("nothing", |(name, _)| name.as_str());
            assert_eq!(next == "mark_step", lazy, "behind {name} comes {next}");
        }
    }
}
