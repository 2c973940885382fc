import { Command, CommanderError } from 'commander';
import { packageVersion } from '../server/version.ts';
import { addAdminCommands } from './admin-commands.ts';
import { getCard } from './card-command.ts';
import { CliError, cliErrorOf, EXIT_INTERRUPTED, errorEnvelope, errorText } from './cli-error.ts';
import {
  addClientOptions,
  addWaitOptions,
  type ClientOptions,
  DEFAULT_AGENT,
  type Flags,
  resolveOptions,
} from './client-options.ts';
import { showConfig } from './config-show.ts';
import { download } from './download.ts';
import type { Io } from './io.ts';
import { type PushVerb, pushConfig } from './push-config.ts';
import { send } from './send.ts';
import { PartFlags } from './send-parts.ts';
import type { Stops } from './serve.ts';
import { startFault } from './start-error.ts';
import { cancelTask, getTask, listTasks, subscribe } from './task-commands.ts';

/** What the commands leave for the end: the exit code, and what is needed to say an error well. */
interface Outcome {
  exitCode: number;
  isJson: boolean;
  isServing: boolean;
  hasCredentials: boolean;
}

/** Runs one command line and gives its exit code. Never throws. */
export async function runCli(args: readonly string[], io: Io, stops: Stops): Promise<number> {
  const outcome: Outcome = { exitCode: 0, isJson: wantsJson(args), isServing: false, hasCredentials: false };
  const ended = new AbortController();
  const own: Io = { ...io, interrupted: AbortSignal.any([io.interrupted, ended.signal]) };
  const context: Context = { io: own, outcome, stops };
  const program = createProgram(context);
  try {
    await program.parseAsync(args.length === 0 ? ['--help'] : [...args], { from: 'user' });
    return outcome.exitCode;
  } catch (error) {
    return report(error, io, outcome);
  } finally {
    ended.abort(new Error('the command is over'));
  }
}

interface Context {
  readonly io: Io;
  readonly outcome: Outcome;
  readonly stops: Stops;
}

/** A usage error comes before the options are read, so the format is looked for in the words themselves. */
function wantsJson(args: readonly string[]): boolean {
  return args.some((word, index) =>
    /^(-o|--output)$/.test(word) ? args[index + 1] === 'json' : /^(-o=?|--output=)json$/.test(word),
  );
}

function createProgram(context: Context): Command {
  const { io } = context;
  const program = new Command('holdfast')
    .description('A durable server for agents that speak A2A 1.0, and a client for any of them.')
    .version(packageVersion, '-v, --version')
    .helpCommand(true)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text), outputError: () => {} })
    .showSuggestionAfterError(true);
  addServe(program, context);
  addSend(program, context);
  addCard(program, context);
  addTask(program, context);
  addConfig(program, context);
  addAdminCommands(program, context);
  return inherit(program);
}

/** Subcommands end and print the way the program does. */
function inherit(command: Command): Command {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inherit(child);
  }
  return command;
}

function addServe(program: Command, { io, outcome, stops }: Context): void {
  program
    .command('serve')
    .description('serve agents; without a file the demo agent')
    .argument('[AGENT.ts...]', 'files whose default export is an agent')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on, 0 for a free one (default: 4000)')
    .option('--store <store>', 'sqlite:PATH, memory or postgres://… (default: sqlite:data/holdfast.db)')
    .option('--config <file>', 'settings in YAML or JSON; flags win over it')
    .option('--public-url <url>', 'the address that clients use, where it is another')
    .option('--default-agent <name>', 'the agent of the well-known card (default: the first)')
    .option('--cors <origins>', 'none, localhost, any, or origins with commas between them (default: none)')
    .option('--allow-anonymous', 'let anybody call who reaches this address')
    .option('--no-migrate', 'refuse a database with an older schema in place of migrating it')
    .option('--log-level <level>', 'silent, error, warn, info or debug (default: info)')
    .addHelpText(
      'after',
      '\nEvery setting can stand in the environment too: HOLDFAST_PORT, HOLDFAST_STORE, HOLDFAST_RUNS_LEASE_SECS …',
    )
    .action(async (files: string[], flags: Flags) => {
      outcome.isServing = true;
      // What only a server needs is loaded for a server only: a client command is to be quick.
      const { serve } = await import('./serve.ts');
      outcome.exitCode = await serve(io, { files, flags, stops });
    });
}

function addSend(program: Command, context: Context): void {
  const parts = new PartFlags();
  const command = addWaitOptions(addClientOptions(program.command('send')))
    .description('send a message to begin or continue a task')
    .argument('[TEXT]', 'a text part')
    .option('--context-id <id>', 'group this with an existing interaction')
    .option('--task-id <id>', 'continue this task')
    .option('--skill <id>', 'the skill that is to take it')
    .option('--message-id <id>', 'an id of your own: the same one again is the same message')
    .option('--metadata <json>', 'metadata of the message, a JSON object')
    .option('--async', 'return the ids at once')
    .option('--return-immediately', 'alias of --async')
    .option('--no-wait', 'alias of --async')
    .option('--stream', 'follow the events as they happen; JSON lines with -o json')
    .action(async (text: string | undefined, flags: Flags) => {
      const options = optionsOf(context, flags);
      const messageId = typeof flags.messageId === 'string' ? flags.messageId : undefined;
      await send(context.io, { options, text, partFlags: parts.list, messageId });
    });
  parts.addOptions(command);
}

function addCard(program: Command, context: Context): void {
  const card = program.command('card').description('agent cards');
  addClientOptions(card.command('get'))
    .description('fetch and show an agent card')
    .option('--validate', "hold it against A2A's schema")
    .option('--extended', 'the extended card, for which you have to be known')
    .option('--stream', 'one line of JSON')
    .action(async (flags: Flags) => {
      await getCard(context.io, { options: optionsOf(context, flags), flags });
    });
}

function addTask(program: Command, context: Context): void {
  const task = program.command('task').description('tasks');
  type Run = (
    io: Io,
    order: { readonly options: ClientOptions; readonly flags: Flags; readonly taskId: string },
  ) => Promise<void>;
  const onTask = (name: string, description: string, run: Run) =>
    addClientOptions(task.command(name))
      .description(description)
      .argument('<taskId>')
      .option('--stream', 'events as they happen, or one line of JSON')
      .action(async (taskId: string, flags: Flags) => {
        await run(context.io, { options: optionsOf(context, flags), flags, taskId });
      });
  addWaitOptions(onTask('get', 'show where a task stands, and its artifacts', getTask)).option(
    '--history <n>',
    'the newest n messages',
  );
  onTask('cancel', 'ask a task to end', cancelTask);
  onTask('subscribe', 'follow a task that is at work', subscribe);
  onTask('download', 'save what the artifacts of a task hold', download)
    .option('--dir <folder>', 'where to (default: here)')
    .option('--artifact <id>', 'only this one, by id or name')
    .option('--force', 'write over files that are there');
  addClientOptions(task.command('list'))
    .description('list tasks, newest first')
    .option('--context-id <id>', 'those of one interaction')
    .option('--state <state>', 'those in one state, such as working')
    .option('--since <time>', 'those whose status is from this time or later, ISO 8601')
    .option('--page-size <n>', 'at most so many')
    .option('--page-token <token>', 'the page behind another')
    .option('--history <n>', 'the newest n messages of each')
    .option('--artifacts', 'with artifacts')
    .option('--stream', 'with -o json: one task a line')
    .action(async (flags: Flags) => {
      await listTasks(context.io, { options: optionsOf(context, flags), flags });
    });
  addPushConfig(task, context);
}

function addPushConfig(task: Command, context: Context): void {
  const push = task.command('push-config').description('where a task pushes its events');
  const run = async (verb: PushVerb, flags: Flags, taskId: string, configId?: string) => {
    const options = optionsOf(context, flags);
    await pushConfig(context.io, { verb, options, flags, taskId, ...(configId === undefined ? {} : { configId }) });
  };
  addClientOptions(push.command('create'))
    .argument('<taskId>')
    .requiredOption('--url <url>', 'the address that gets the events')
    .option('--id <id>', 'an id of your own')
    .option('--token <token>', 'sent along, so that the receiver knows its task')
    .option('--auth-scheme <scheme>', 'such as Bearer')
    .option('--auth-credentials <credentials>')
    .action((taskId: string, flags: Flags) => run('create', flags, taskId));
  addClientOptions(push.command('list'))
    .argument('<taskId>')
    .action((taskId: string, flags: Flags) => run('list', flags, taskId));
  for (const verb of ['get', 'delete'] as const) {
    addClientOptions(push.command(verb))
      .argument('<taskId>')
      .argument('<configId>')
      .action((taskId: string, configId: string, flags: Flags) => run(verb, flags, taskId, configId));
  }
}

function addConfig(program: Command, { io }: Context): void {
  const config = program.command('config').description('settings of the client commands');
  addClientOptions(config.command('show'))
    .description(`show each setting and where it comes from (the agent is ${DEFAULT_AGENT} by default)`)
    .action((flags: Flags) => showConfig(io, flags));
}

function optionsOf({ io, outcome }: Context, flags: Flags): ClientOptions {
  const options = resolveOptions(io, flags);
  outcome.isJson = options.output === 'json';
  outcome.hasCredentials = options.bearer !== undefined || options.apiKey !== undefined;
  if (options.insecure) {
    io.err('Warning: TLS certificates are not verified (--insecure).\n');
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  }
  return options;
}

function report(error: unknown, io: Io, outcome: Outcome): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (error instanceof CommanderError && error.code === 'commander.help') return 2;
  if (outcome.isServing) return reportStart(error, io);
  if (io.interrupted.aborted && !(error instanceof CliError)) return EXIT_INTERRUPTED;
  const fault =
    error instanceof CommanderError
      ? new CliError('A2ACLI_ERR_USAGE', error.message.replace(/^error: /, ''), {
          hint: '--help shows what is possible.',
        })
      : cliErrorOf(error, outcome);
  if (outcome.isJson) io.out(`${errorEnvelope(fault, io.program)}\n`);
  else io.err(errorText(fault, io.program));
  return fault.exitCode;
}

function reportStart(error: unknown, io: Io): number {
  if (error instanceof CommanderError) {
    io.err(`${error.message}\n`);
    return 2;
  }
  if (error instanceof CliError) {
    io.err(`holdfast: ${error.message}\n`);
    return error.exitCode;
  }
  const fault = startFault(error);
  io.err(
    fault === undefined
      ? `holdfast could not start.\n${(error as Error).stack ?? String(error)}\n`
      : `holdfast: ${fault}\n`,
  );
  return 1;
}
