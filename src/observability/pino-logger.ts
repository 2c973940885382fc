import { type DestinationStream, type Level, type Logger as Pino, pino } from 'pino';
import type { LogFields, Logger } from '../base/log.ts';

export interface PinoLoggerOptions {
  readonly level?: Level | 'silent';
  /** Standard error by default, so that what a command prints stays its own. */
  readonly destination?: DestinationStream;
}

/** Log lines as JSON: the time as ISO 8601 in UTC, the constant message under `msg`, what varies beside it, errors with their stacks and causes. */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  const destination = options.destination ?? pino.destination({ dest: 2, sync: true });
  const serializers = { error: serializeError };
  return wrap(
    pino(
      { level: options.level ?? 'info', base: null, serializers, timestamp: pino.stdTimeFunctions.isoTime },
      destination,
    ),
  );
}

/** Texts of an error are an author's, a client's, or anybody's: so much of each says enough. */
const ERROR_TEXT_CHARS_MAX = 8_000;
const CAUSES_MAX = 8;

function serializeError(error: unknown): unknown {
  try {
    return shortened(pino.stdSerializers.errWithCause(error as Error), CAUSES_MAX);
  } catch {
    return 'an error that cannot be read';
  }
}

function shortened(value: unknown, causes: number): unknown {
  if (typeof value === 'string') return shorten(value);
  if (typeof value !== 'object' || value === null || causes === 0) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    name === 'cause' ? shortened(field, causes - 1) : typeof field === 'string' ? shorten(field) : field,
  ]);
  return Object.fromEntries(entries);
}

function shorten(text: string): string {
  return text.length <= ERROR_TEXT_CHARS_MAX ? text : `${text.slice(0, ERROR_TEXT_CHARS_MAX).toWellFormed()}…`;
}

function wrap(logger: Pino): Logger {
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    child: (fields: LogFields) => wrap(logger.child(fields)),
  };
}
