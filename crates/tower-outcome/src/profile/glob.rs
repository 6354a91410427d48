//! Globs for paths and names.

/// Whether `text` has the shape of `glob`: `*` stands for anything but a slash, `**` for anything.
pub(crate) fn is_like(glob: &str, text: &str) -> bool {
    let Some(star) = glob.find('*') else {
        return glob == text;
    };
    let (before, rest) = glob.split_at(star);
    let Some(text) = text.strip_prefix(before) else {
        return false;
    };
    let (after, reach) = match rest.strip_prefix("**") {
        Some(after) => (after, text.len()),
        None => (&rest[1..], text.find('/').unwrap_or(text.len())),
    };
    let mut cuts = (0..=reach).filter(|cut| text.is_char_boundary(*cut));
    cuts.any(|cut| is_like(after, &text[cut..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_stops_at_a_slash_unless_doubled() {
        assert!(is_like("/v1/*/refunds", "/v1/7/refunds"));
        assert!(!is_like("/v1/*", "/v1/7/refunds"));
        assert!(is_like("/v1/**", "/v1/7/refunds"));
        assert!(is_like("Describe*", "DescribeInstances"));
        assert!(!is_like("/v1", "/v1/"));
    }
}
