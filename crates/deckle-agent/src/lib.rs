//! The run as a state machine, tools, history repair, models.
