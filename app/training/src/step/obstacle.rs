//! Reasons why a training step can't be followed.

use python::tree::Id;

/// One reason why a step can't be followed or rewritten as a whole. Its text for the user is a message of that name in
/// the target's guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// `several_optimizers`.
    pub name: &'static str,
    /// Its location.
    pub at: Id,
    /// Values from the program for the message, by slot.
    pub slots: Vec<(&'static str, String)>,
}

/// Those that other queries find, too.
impl Obstacle {
    /// One step of several in a file.
    pub fn several_steps(at: Id) -> Self {
        several_steps(at)
    }

    /// The compute mode is not available.
    pub fn mode_unreadable(at: Id) -> Self {
        mode_unreadable(at)
    }

    /// Weights are changed before a step that is compiled.
    pub fn weights_changed_first(at: Id) -> Self {
        weights_changed_first(at)
    }

    /// No optimizer is created.
    pub fn no_optimizer(at: Id) -> Self {
        no_optimizer(at)
    }

    /// Another optimizer is created, too.
    pub fn several_optimizers_made(at: Id) -> Self {
        several_optimizers_made(at)
    }
}

/// A part of a step, or the obstacle to finding it.
pub type Found<T> = Result<T, Obstacle>;

/// The name of an obstacle's message, and the slots that it fills.
pub type Reason = (&'static str, &'static [&'static str]);

/// Declares the obstacles of a family: a function for each, whose arguments are the place and the values of its slots,
/// and the list of all of them, by which guides are checked.
macro_rules! obstacles {
    ($(#[$doc:meta])* $family:ident: $($name:ident($($slot:ident),*);)*) => {
        $(
            pub(crate) fn $name(at: Id, $($slot: impl Into<String>),*) -> Obstacle {
                Obstacle { name: stringify!($name), at, slots: vec![$((stringify!($slot), $slot.into())),*] }
            }
        )*

        $(#[$doc])*
        pub const $family: &[Reason] = &[$((stringify!($name), &[$(stringify!($slot)),*])),*];
    };
}

obstacles! {
    /// Obstacles for any step.
    OF_STEPS:
    backward_by_helper(helper);
    backward_in_no_statement();
    backward_not_reached();
    clipped_before_backward();
    closure();
    gradient_read();
    gradients_in_loss();
    loss_handed_in();
    mode_unreadable();
    no_update();
    several_backward();
    several_optimizers();
    several_steps();
    several_updates(optimizers);
}

obstacles! {
    /// Obstacles to compiling the statements from the model's call to the loss.
    OF_SLICES:
    accumulation_unclear();
    batch_cut();
    carried_state(name);
    changing_value(name);
    conditional_update();
    control_flow_before_loss();
    count_unknown();
    gradient_given();
    input_learns(call);
    loader_elsewhere();
    loss_without_name();
    method_not_followed();
    micro_batch_numbered();
    model_call_elsewhere();
    model_not_found();
    no_batch_input();
    number_before_loss();
    output_object(name);
    output_read_before_loss();
    output_under_test(name);
    output_used_at_once();
    own_reader();
    scheduled_before_update();
    self_as_whole();
    skipped_update();
    state_none_at_first(name);
    update_after_epoch();
    weights_changed_first();
}

obstacles! {
    /// Obstacles to running forward pass and update one after the other.
    OF_TURNS:
    backward_arguments();
    gathered();
    input_no_tensor();
    input_not_of_batch(input);
    no_input();
    no_model_call();
    method_called(method);
    other_arguments();
    other_model();
    other_order();
    output_no_tensor();
    part_of_model(method);
    part_under_test();
    sequence_first(input);
    several_model_calls();
    update_result_used();
    weights_touched();
}

obstacles! {
    /// Obstacles to recreating the optimizer.
    OF_OPTIMIZERS:
    no_optimizer();
    optimizer_in_loop();
    optimizer_made_otherwise();
    several_optimizers_made();
}
