//! The profiles that come with the crate.

use std::path::Path;

use tower_outcome::Profile;
use tower_outcome::profile::Retention;

fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_file_is_a_profile_of_its_own_name() {
    for (name, text) in files() {
        let profile = Profile::from_toml(&text);
        let profile = profile.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(profile.name(), name);
    }
}

#[test]
fn every_file_can_be_had_by_its_name_and_nothing_else_can() {
    let names: Vec<String> = files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(Profile::names().collect::<Vec<_>>(), names);
    for name in &names {
        assert_eq!(Profile::named(name).unwrap().name(), name);
    }
    assert!(Profile::named("nobody").is_none());
}

#[test]
fn every_file_names_its_sources() {
    for (name, text) in files() {
        assert!(text.contains("# Sources:"), "{name}");
    }
}

#[test]
fn what_nobody_says_of_a_provider_stays_unsaid() {
    let square = Profile::named("square").unwrap();
    assert_eq!(square.retention(), None);
    assert_eq!(square.stored_failures(), None);
    for name in ["cloudflare", "github", "postmark", "sendgrid", "slack"] {
        assert!(!Profile::named(name).unwrap().honours_keys(), "{name}");
    }
    let moov = Profile::named("moov").unwrap();
    assert_eq!(moov.retention(), Some(Retention::Forever));
}
