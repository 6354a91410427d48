//! What went wrong elsewhere: reports from the field, as far as an executor has a part in them.
