import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Operation } from '../client/transport.ts';
import { openAgent } from './agent-session.ts';
import type { ClientOptions, Flags } from './client-options.ts';
import type { Io } from './io.ts';
import { block, field } from './render-text.ts';
import { Reporter } from './reporter.ts';

export type PushVerb = 'create' | 'get' | 'list' | 'delete';

const operations: Readonly<Record<PushVerb, Operation>> = {
  create: 'CreateTaskPushNotificationConfig',
  get: 'GetTaskPushNotificationConfig',
  list: 'ListTaskPushNotificationConfigs',
  delete: 'DeleteTaskPushNotificationConfig',
};

/** `task push-config …`: manages where the server is to push a task's events. */
export async function pushConfig(
  io: Io,
  order: {
    readonly verb: PushVerb;
    readonly options: ClientOptions;
    readonly flags: Flags;
    readonly taskId: string;
    readonly configId?: string;
  },
): Promise<void> {
  const { verb, options, flags, taskId, configId } = order;
  const agent = await openAgent(io, options);
  const target: JsonObject = { taskId, ...(configId === undefined ? {} : { id: configId }) };
  const params = verb === 'create' ? { ...target, ...configOf(flags) } : target;
  const json = await agent.client.call(operations[verb], params, agent.signal);
  const reporter = new Reporter(io, options);
  reporter.document(json, () => render(verb, json, configId));
}

function configOf(flags: Flags): JsonObject {
  const { url, id, token, authScheme, authCredentials } = flags;
  const authentication: JsonObject = {
    ...(typeof authScheme === 'string' ? { scheme: authScheme } : {}),
    ...(typeof authCredentials === 'string' ? { credentials: authCredentials } : {}),
  };
  return {
    url: String(url),
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof token === 'string' ? { token } : {}),
    ...(Object.keys(authentication).length === 0 ? {} : { authentication }),
  };
}

function render(verb: PushVerb, json: Json, configId: string | undefined): string {
  if (verb === 'delete') return field('Deleted', configId ?? '');
  if (verb !== 'list') return renderConfig(json);
  const configs = isJsonObject(json) && Array.isArray(json.configs) ? (json.configs as readonly Json[]) : [];
  return configs.length === 0
    ? field('Configs', 'none')
    : configs.map((config) => `${renderConfig(config)}\n`).join('');
}

function renderConfig(json: Json): string {
  if (!isJsonObject(json)) return block('Config', JSON.stringify(json));
  return [
    field('Config ID', String(json.id ?? '')),
    field('Task ID', String(json.taskId ?? '')),
    field('URL', String(json.url ?? '')),
  ].join('');
}
