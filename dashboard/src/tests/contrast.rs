//! Colours of the style sheet, computed rather than believed.

use std::collections::BTreeMap;

const STYLE: &str = include_str!("../../assets/style.css");
/// Colours that text is set in.
const TEXT: [&str; 13] = [
    "--ink",
    "--soft",
    "--link",
    "--good",
    "--bad",
    "--warn",
    "--mode-fork",
    "--mode-forkd",
    "--mode-prefork",
    "--mode-persistent",
    "--mode-wasm-cold",
    "--mode-wasm-warm",
    "--mode-wasm-parked",
];

type Colours = BTreeMap<&'static str, [f64; 3]>;

/// The colours of the light and of the dark theme.
fn colours() -> [Colours; 2] {
    let block = STYLE.split_once(":root {").unwrap().1.split_once('}').unwrap().0;
    let pairs = block.split(';').filter_map(|declaration| {
        let (name, pair) = declaration.split_once(": light-dark(")?;
        let (light, dark) = pair.split_once(')')?.0.split_once(", ")?;
        Some((name.trim(), [light, dark]))
    });
    let mut themes = [Colours::new(), Colours::new()];
    for (name, pair) in pairs {
        for (theme, hex) in themes.iter_mut().zip(pair) {
            let channel = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            theme.insert(name, [channel(1), channel(3), channel(5)]);
        }
    }
    themes
}

/// WCAG 2: contrast ratio of two colours.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let luminance = |colour: [f64; 3]| {
        let linear = colour.map(|c| {
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_can_be_read_on_both_grounds_of_both_themes() {
    let [light, dark] = colours();
    for (theme, colours) in [("light", light), ("dark", dark)] {
        for ground in ["--ground", "--raised"] {
            for text in TEXT {
                let ratio = contrast(colours[text], colours[ground]);
                assert!(ratio >= 4.5, "{text} on {ground}, {theme}: {ratio:.2}");
            }
        }
        assert!(
            contrast(colours["--on-accent"], colours["--accent"]) >= 4.5,
            "buttons, {theme}"
        );
        assert!(
            contrast(colours["--control"], colours["--ground"]) >= 3.0,
            "outlines of controls, {theme}"
        );
    }
}

#[test]
fn every_mode_has_a_colour_and_a_dash_of_its_own() {
    let mut looks: Vec<&str> = warmbin_store::words::MODES
        .iter()
        .map(|mode| {
            let rule = STYLE
                .split_once(&format!(".mode-{mode} {{"))
                .unwrap()
                .1
                .split_once('}')
                .unwrap()
                .0;
            assert!(rule.contains(&format!("var(--mode-{mode})")), "{mode}: {rule}");
            rule.split_once("--dash:").map_or("", |(_, dash)| dash)
        })
        .collect();
    looks.sort_unstable();
    looks.dedup();
    assert_eq!(
        looks.len(),
        warmbin_store::words::MODES.len(),
        "two modes have the same dash"
    );
}
