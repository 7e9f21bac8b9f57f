//! The part of resolving that makes a child process of what was typed.

use std::path::{Path, PathBuf};

use super::{
    dotenv,
    error::Reason,
    expand::{Expanded, Standing},
    load::read_capped,
    resolve::Resolver,
    running::{Child, Keeping, SESSION_DIR, SessionDir},
    secret::Secret,
    source::At,
    written::{Body, reason},
};

impl Resolver<'_, '_> {
    pub(super) fn child(&mut self, command: &At<String>, body: &Body) -> Result<Child, Reason> {
        if let Some((name, _)) = body.headers.first() {
            self.warn(name.at, "`headers` are ignored: a child process has none");
        }
        let cwd = body.cwd.as_ref().map(|cwd| self.folder(cwd)).transpose()?;
        let program = self.program(command, body, cwd.as_deref())?;
        let args = body.args.iter().map(|arg| self.fill(arg)).collect::<Result<Vec<_>, _>>()?;
        let mut env = match &body.env_file {
            Some(file) => self.env_file(file)?,
            None => Vec::new(),
        };
        for (name, value) in &body.env {
            if name.value.is_empty() || name.value.contains(['=', '\0']) {
                let problem = format!("`{}` cannot be the name of an environment variable", name.value.escape_debug());
                return Err(self.reason(name.at, problem, "use letters, digits and _"));
            }
            let value = Secret::new(self.fill(value)?.value());
            env.retain(|(earlier, _)| *earlier != name.value);
            env.push((name.value.clone(), value));
        }
        let session_dir = self.session_dir(body, (&program, cwd.as_deref()), &args, &env)?;
        Ok(Child { command: program, args, env, cwd, session_dir })
    }

    /// What is to become of the folders of its sessions, where it has any.
    fn session_dir(
        &mut self,
        body: &Body,
        (program, cwd): (&Expanded, Option<&Path>),
        args: &[Expanded],
        env: &[(String, Secret)],
    ) -> Result<Option<SessionDir>, Reason> {
        let holds = |text: &str| text.contains(SESSION_DIR);
        let per_device = self.variables.session_dir == Standing::Itself;
        if per_device && (holds(program.value()) || cwd.is_some_and(|cwd| holds(&cwd.to_string_lossy()))) {
            let problem = "${SESSION_DIR} stands in `command` or `cwd`";
            return Err(self.reason(self.name.at, problem, "write it in `args` or `env`"));
        }
        let used = per_device
            && (args.iter().any(|arg| holds(arg.value())) || env.iter().any(|(_, value)| holds(value.reveal())));
        let keeping = match &body.session_dir {
            None => Keeping::Nothing,
            Some(At { at, .. }) if !used => {
                self.warn(
                    *at,
                    "`sessionDir` means nothing without ${SESSION_DIR} in `args` or `env`, and `per-device`",
                );
                Keeping::Nothing
            }
            Some(At { value, .. }) if value == "temporary" => Keeping::Nothing,
            Some(At { value, at }) if value == "keep" => {
                let state = self.variables.around.state_folder().ok_or_else(|| {
                    self.reason(*at, "there is no folder to keep anything in", "set HOME or XDG_STATE_HOME")
                })?;
                Keeping::At(state.join("sessions"))
            }
            Some(At { value, at }) => {
                let problem = format!("`sessionDir` is `{value}`, which is not known");
                return Err(self.reason(*at, problem, "write temporary or keep"));
            }
        };
        Ok(used.then_some(SessionDir { keeping }))
    }

    fn program(&mut self, command: &At<String>, body: &Body, cwd: Option<&Path>) -> Result<Expanded, Reason> {
        let program = self.fill(command)?;
        let value = program.value();
        if value.trim().is_empty() {
            return Err(self.reason(command.at, "`command` is empty", "name the program to start"));
        }
        if let Some((first, rest)) = value.split_once(' ')
            && body.args.is_empty()
            && !first.contains(['/', '\\'])
        {
            let message = format!(
                "`command` holds spaces and no shell reads it: the whole is taken for a program's name. \
                 Write \"command\": {first:?}, \"args\": {:?}",
                rest.split_whitespace().collect::<Vec<_>>()
            );
            self.warn(command.at, &message);
        }
        let path = Path::new(value);
        if path.is_absolute() || path.components().count() < 2 {
            return Ok(program);
        }
        // A relative path would mean one thing here and another in the child's own folder: settle it now.
        let whole = cwd.unwrap_or(self.variables.around.folder).join(path);
        Ok(program.standing_for(whole.to_string_lossy().into_owned()))
    }

    fn folder(&mut self, cwd: &At<String>) -> Result<PathBuf, Reason> {
        let cwd = self.fill(cwd)?;
        Ok(self.variables.workspace.join(cwd.value()))
    }

    fn env_file(&mut self, file: &At<String>) -> Result<Vec<(String, Secret)>, Reason> {
        let path = self.folder(file)?;
        let unusable = |problem: String, remedy: &str| Err(reason(self.source, file.at, problem, remedy));
        let shown = path.display();
        let bytes = match read_capped(&path, MOST_ENV_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return unusable(format!("the envFile {shown} is too long"), "is this the right file?"),
            Err(why) => {
                return unusable(
                    format!("the envFile {shown} cannot be read ({why})"),
                    "check the path and its rights",
                );
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return unusable(format!("the envFile {shown} is not UTF-8"), "save it as UTF-8");
        };
        match dotenv::read(&text) {
            Ok(pairs) => Ok(pairs.into_iter().map(|(name, value)| (name, Secret::new(value))).collect()),
            Err(line) => unusable(format!("line {line} of the envFile {shown} cannot be read"), "write NAME=VALUE"),
        }
    }
}

/// The longest envFile that is read.
const MOST_ENV_BYTES: u64 = 1 << 20;
