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

/// The custom properties with hexadecimal values in the first block after `selector`.
fn colours(selector: &str) -> BTreeMap<&'static str, [f64; 3]> {
    let (_, rest) = STYLE
        .split_once(selector)
        .unwrap_or_else(|| panic!("no {selector}"));
    let block = rest.split_once('}').unwrap().0;
    block
        .split(['{', ';'])
        .filter_map(|declaration| declaration.split_once(": #"))
        .map(|(name, hex)| {
            let channel = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            (name.trim(), [channel(0), channel(2), channel(4)])
        })
        .collect()
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
    let light = colours(":root {");
    let dark = colours(":root[data-theme=\"dark\"] {");
    assert_eq!(
        colours(":root:not([data-theme=\"light\"]) {"),
        dark,
        "the two dark themes differ"
    );
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
