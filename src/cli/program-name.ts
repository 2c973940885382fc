import path from 'node:path';

/**
 * How this program was called, so that a command which it prints can be pasted where it was read: by its name where that
 * is on the path, else through npx, npm or node as it was.
 */
export function programName(called: {
  /** `process.argv[1]`: the file that runs, by the name it was called by. */
  readonly file: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): string {
  const { file, cwd, env } = called;
  // Processes that npm starts hand its variables on to theirs, so the file that runs has to agree.
  const isScript = /\.[cm]?[jt]s$/.test(file);
  const script = env.npm_lifecycle_event;
  if (isScript && /\bsrc.cli.main\.ts$/.test(file) && (script === 'holdfast' || script === 'start')) {
    return 'npm run -s holdfast --';
  }
  if (isScript) return `node ${nearest(file, cwd)}`;
  if (isInstalledAt(file, cwd) || env.npm_command === 'exec') return 'npx holdfast';
  return isOnPath(file, env.PATH) ? 'holdfast' : nearest(file, cwd);
}

/** A dependency of the project that one is in: npx finds it, and npm has it on the path for its own scripts only. */
function isInstalledAt(file: string, cwd: string): boolean {
  const [project, name] = file.split(`${path.sep}node_modules${path.sep}.bin${path.sep}`);
  return name !== undefined && (cwd === project || cwd.startsWith(`${project}${path.sep}`));
}

function isOnPath(file: string, folders = ''): boolean {
  return folders.split(path.delimiter).includes(path.dirname(file));
}

/** The shorter of the two ways to say where a file is. */
function nearest(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  const local = relative.includes(path.sep) ? relative : `.${path.sep}${relative}`;
  const shorter = local.length < file.length ? local : file;
  return /\s/.test(shorter) ? `"${shorter}"` : shorter;
}

/** Text that names commands of this program, with the words by which it was called. */
export function asCalled(text: string, program: string): string {
  return text.replace(/\bholdfast (?=(serve|send|card|task|config|admin)\b)/g, () => `${program} `);
}
