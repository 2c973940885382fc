import { type DestinationStream, type Level, type Logger as Pino, pino } from 'pino';
import type { LogFields, Logger } from '../base/log.ts';

export interface PinoLoggerOptions {
  readonly level?: Level | 'silent';
  /** Standard error by default, so that what a command prints stays its own. */
  readonly destination?: DestinationStream;
}

/** Log lines as JSON: the constant message under `msg`, what varies beside it, errors with their stacks and causes. */
export function createPinoLogger(options: PinoLoggerOptions = {}): Logger {
  const destination = options.destination ?? pino.destination({ dest: 2, sync: true });
  const serializers = { error: pino.stdSerializers.errWithCause };
  return wrap(pino({ level: options.level ?? 'info', base: null, serializers }, destination));
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
