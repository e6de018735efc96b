/// What holds for the sample weights and any event of a file, which may be a real one.
pub const SAMPLE_CAUTION: &str = "The sample weights were trained on synthetic events only. Unless this event is one of \
     them, the predicted classes mean nothing. Whether a port agrees with the reference can still be checked.";
