//! Which program a path leads to.

use anyhow::{Result, ensure};

use super::Where::BeforeTheMode;
use super::scene::Scene;
use super::section;

section! {
    "Finding the program";
    f01 BeforeTheMode, "a name that no program has" => "404": no_such_program;
}

async fn no_such_program(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi-bin/none", "").await?;
    ensure!(answer.status == 404, "{}", answer.status);
    Ok(())
}
