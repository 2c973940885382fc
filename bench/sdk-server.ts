/*
 * The peer of the benchmark: `@a2a-js/sdk` with its own store and its express handler, serving the same bench agent.
 * `node bench/sdk-server.ts memory` or `node bench/sdk-server.ts sqlite FILE`; prints its address, then serves.
 */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type AgentCard, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
  type TaskStore,
} from '@a2a-js/sdk/server';
import { DatabaseTaskStore } from '@a2a-js/sdk/server/database';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { Kysely, SqliteDialect } from 'kysely';
import { parseBenchText } from '../agents/bench.ts';

class BenchExecutor implements AgentExecutor {
  async cancelTask(): Promise<void> {}

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const ids = { taskId: context.taskId, contextId: context.contextId };
    const part = context.userMessage.parts[0]?.content;
    const { chunks, size, delay, hold } = parseBenchText(part?.$case === 'text' ? part.value : '');
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() });
    bus.publish(
      AgentEvent.task({
        id: ids.taskId,
        contextId: ids.contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [context.userMessage],
        metadata: {},
      }),
    );
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(TaskState.TASK_STATE_WORKING), metadata: {} }));
    if (hold > 0) await wait(hold);
    for (let index = 0; index < chunks; index += 1) {
      if (index > 0 && delay > 0) await wait(delay);
      bus.publish(
        AgentEvent.artifactUpdate({
          ...ids,
          artifact: chunkOf(size),
          append: index > 0,
          lastChunk: index === chunks - 1,
          metadata: {},
        }),
      );
    }
    bus.publish(AgentEvent.statusUpdate({ ...ids, status: status(TaskState.TASK_STATE_COMPLETED), metadata: {} }));
    bus.finished();
  }
}

function chunkOf(size: number) {
  return {
    artifactId: 'result',
    name: 'result',
    description: '',
    parts: [
      {
        content: { $case: 'text' as const, value: 'x'.repeat(size) },
        mediaType: 'text/plain',
        filename: '',
        metadata: undefined,
      },
    ],
    metadata: undefined,
    extensions: [],
  };
}

/** The part of better-sqlite3's interface that Kysely's dialect uses, over `node:sqlite`. */
function kyselyOver(file: string): Kysely<unknown> {
  const database = new DatabaseSync(file);
  database.exec('pragma journal_mode = wal; pragma synchronous = full');
  const cli = path.join(path.dirname(createRequire(import.meta.url).resolve('@a2a-js/sdk/server')), '../cli/a2a_db.js');
  database.exec(execFileSync(process.execPath, [cli, 'upgrade', '--sql', '--dialect', 'sqlite'], { encoding: 'utf8' }));
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return {
      reader: /^\s*(select|with|pragma)/i.test(sql) || /\breturning\b/i.test(sql),
      all: (values: readonly never[]) => statement.all(...values),
      run: (values: readonly never[]) => statement.run(...values),
      iterate: (values: readonly never[]) => statement.iterate(...values),
    };
  };
  return new Kysely({ dialect: new SqliteDialect({ database: { prepare, close: () => database.close() } as never }) });
}

function openStore(kind: string | undefined, file: string | undefined): TaskStore {
  if (kind === 'sqlite' && file !== undefined) return new DatabaseTaskStore(kyselyOver(file));
  return new InMemoryTaskStore();
}

const card: AgentCard = {
  name: 'bench',
  description: 'Streams chunks.',
  version: '1',
  provider: undefined,
  supportedInterfaces: [
    { url: 'http://127.0.0.1/a2a/jsonrpc', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  signatures: [],
};

const handler = new DefaultRequestHandler(card, openStore(process.argv[2], process.argv[3]), new BenchExecutor());
const app = express();
app.use('/a2a/jsonrpc', jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(
    `holdfast-bench peer listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : address}\n`,
  );
});
