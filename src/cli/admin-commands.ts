import type { Command } from 'commander';
import type { Flags } from './client-options.ts';
import type { Io } from './io.ts';

/** Commands for whoever runs a server. Those with `--store` work on the data itself, while no server does. */
export function addAdminCommands(
  program: Command,
  { io, outcome }: { readonly io: Io; readonly outcome: { exitCode: number; isServing: boolean } },
): void {
  const admin = program.command('admin').description('for whoever runs a server');
  const onStore = (command: Command, run: (io: Io, flags: Flags) => Promise<number>): Command =>
    withStore(command).action(async (flags: Flags) => {
      outcome.isServing = true;
      outcome.exitCode = await run(io, flags);
    });
  const schema = () => import('./migrate-commands.ts');
  const migrate = admin.command('migrate').description('the schema of the database');
  onStore(migrate.command('status').description('what is applied and what is not'), async (...of) =>
    (await schema()).migrateStatus(...of),
  );
  onStore(migrate.command('plan').description('the statements that "up" would run'), async (...of) =>
    (await schema()).migratePlan(...of),
  );
  onStore(migrate.command('up').description('bring the schema up to date'), async (...of) =>
    (await schema()).migrateUp(...of),
  );
  onStore(admin.command('doctor').description('look for what would keep a server from working'), async (...of) =>
    (await import('./doctor.ts')).doctor(...of),
  )
    .option('-a, --agent-card <ref>', 'look at a running server too')
    .option('--port <n>', 'the port the server is to listen on (default: 4000)')
    .option('--host <address>', 'the address it is to listen on (default: 127.0.0.1)');
  onStore(admin.command('tasks').description('tasks of every agent and scope, newest first'), async (...of) =>
    (await import('./admin-tasks.ts')).listAllTasks(...of),
  )
    .option('--state <state>', 'those in one state, such as working')
    .option('--agent <name>', 'those of one agent')
    .option('--limit <n>', 'at most so many (default: 50)');
}

function withStore(command: Command): Command {
  return command
    .option('--store <store>', 'sqlite:PATH or postgres://… (default: sqlite:data/holdfast.db)')
    .option('--config <file>', "the server's settings, in YAML or JSON")
    .option('-o, --output <text|json>', 'format (default: text)');
}
