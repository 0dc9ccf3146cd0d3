//! The configuration file.

use std::path::Path;

use super::ConfigError;
use super::layer::Layer;

/// Reads `path`. An error names the file and the line.
pub fn read(path: &Path) -> Result<Layer, ConfigError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::one(format!("cannot read the configuration file {shown}: {error}")))?;
    let mut layer = parse(&text, &shown.to_string())?;
    let absolute = std::path::absolute(path)
        .map_err(|error| ConfigError::one(format!("cannot tell where {shown} is: {error}")))?;
    if let Some(folder) = absolute.parent() {
        layer.rebase(folder);
    }
    Ok(layer)
}

fn parse(text: &str, shown: &str) -> Result<Layer, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let before = error
            .span()
            .and_then(|span| text.get(..span.start))
            .unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let message = error.message().trim_end();
        // The parser says what is wrong with a value, not always whose value it is.
        let key = text
            .lines()
            .nth(line - 1)
            .and_then(|line| line.split_once('='))
            .map(|(key, _)| key.trim())
            .filter(|key| !message.contains(key));
        let key = key.map(|key| format!(" (key {key})")).unwrap_or_default();
        ConfigError::one(format!("{shown}:{line}: {message}{key}"))
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::parse;

    #[test]
    fn errors_name_the_key_and_the_line() {
        for (text, expected) in [
            (
                "listen = \"x\"\n",
                "f.toml:1: invalid socket address syntax (key listen)",
            ),
            (
                "\nlissten = \"127.0.0.1:1\"\n",
                "f.toml:2: unknown field `lissten`",
            ),
            ("[limits]\nwall = \"30\"\n", "f.toml:2: \"30\" is not a duration"),
            (
                "[[program]]\nname = \"a\"\nrout = \"/a\"\n",
                "f.toml:3: unknown field `rout`",
            ),
            ("[[program]]\nname = 3\n", "f.toml:2: "),
            (
                "[[directory]]\nurl = \"/x\"\nlimits = { cpu = \"x\" }\n",
                "f.toml:3: \"x\" is not a duration",
            ),
        ] {
            let error = parse(text, "f.toml").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn an_entry_keeps_its_own_keys_and_its_settings_apart() {
        let layer = parse(
            "[[program]]\nname = \"a\"\nroute = \"/a\"\nnative = \"bin/a\"\nenv = { A = \"1\" }\n\
             [[directory]]\nurl = \"/d\"\npath = \"d\"\nindex = [\"i.cgi\"]\npath_info = false\n",
            "f.toml",
        )
        .unwrap();
        let program = &layer.program[0];
        assert_eq!(
            (program.name.as_str(), program.native.as_deref()),
            ("a", Some(Path::new("bin/a")))
        );
        assert_eq!(program.settings.route.as_deref(), Some("/a"));
        assert_eq!(program.settings.env["A"], "1");
        assert_eq!(layer.directory[0].settings.path_info, Some(false));
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let mut layer = parse(
            "data = \"d\"\nstore = \"sqlite:d/s.db\"\n[[program]]\nname = \"a\"\nwasm = \"/abs.wasm\"\nnative = \"n\"\n",
            "f.toml",
        )
        .unwrap();
        layer.rebase(Path::new("/etc/warmbin"));
        assert_eq!(layer.data, Some(PathBuf::from("/etc/warmbin/d")));
        assert_eq!(layer.store.as_deref(), Some("sqlite:/etc/warmbin/d/s.db"));
        assert_eq!(layer.program[0].wasm, Some(PathBuf::from("/abs.wasm")));
        assert_eq!(layer.program[0].native, Some(PathBuf::from("/etc/warmbin/n")));
    }
}
