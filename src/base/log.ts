/** Facts of a log line. No secrets, no payloads. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines go. The message is constant; what varies is a field. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}

/** A child that is made when its first line is written: most runs write none, and a child costs more than they do. */
export function childOnUse(parent: Logger, fields: () => LogFields): Logger {
  let made: Logger | undefined;
  const child = (): Logger => {
    made ??= parent.child(fields());
    return made;
  };
  return {
    debug: (message, more) => child().debug(message, more),
    info: (message, more) => child().info(message, more),
    warn: (message, more) => child().warn(message, more),
    error: (message, more) => child().error(message, more),
    child: (more) => child().child(more),
  };
}

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
