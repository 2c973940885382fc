import { abortSession } from './abort-session.ts';
import { cancelTask } from './cancel-task.ts';
import { followEvents } from './follow-events.ts';
import { getExtendedAgentCard } from './get-extended-agent-card.ts';
import { getTask } from './get-task.ts';
import { LargeTasks } from './large-tasks.ts';
import { listArtifacts } from './list-artifacts.ts';
import { listRuns } from './list-runs.ts';
import { listSessions } from './list-sessions.ts';
import { listTasks } from './list-tasks.ts';
import { openSession } from './open-session.ts';
import type { Operations } from './operations.ts';
import { pushConfig } from './push-config.ts';
import { readArtifact } from './read-artifact.ts';
import { readEvents } from './read-events.ts';
import { readSession } from './read-session.ts';
import { readTask } from './read-task.ts';
import { resumeTask } from './resume-task.ts';
import { sendMessage } from './send-message.ts';
import { streamMessage } from './stream-message.ts';
import { subscribeToTask } from './subscribe-to-task.ts';
import { type OperationParts, operation } from './verb.ts';

/** Every verb of the product in its pipeline. */
export function createOperations(given: Omit<OperationParts, 'largeTasks'>): Operations {
  const parts: OperationParts = { ...given, largeTasks: new LargeTasks(given.runtime) };
  const push = operation(parts, 'pushConfig', pushConfig);
  const extendedCard = operation(parts, 'getExtendedAgentCard', getExtendedAgentCard);
  return {
    sendMessage: operation(parts, 'sendMessage', sendMessage),
    streamMessage: operation(parts, 'streamMessage', streamMessage),
    getTask: operation(parts, 'getTask', getTask),
    listTasks: operation(parts, 'listTasks', listTasks),
    cancelTask: operation(parts, 'cancelTask', cancelTask),
    subscribeToTask: operation(parts, 'subscribeToTask', subscribeToTask),
    pushConfig: (call) => push(call),
    getExtendedAgentCard: (call) => extendedCard(call),
    listSessions: operation(parts, 'listSessions', listSessions),
    openSession: operation(parts, 'openSession', openSession),
    readSession: operation(parts, 'readSession', readSession),
    abortSession: operation(parts, 'abortSession', abortSession),
    readTask: operation(parts, 'readTask', readTask),
    readEvents: operation(parts, 'readEvents', readEvents),
    followEvents: operation(parts, 'followEvents', followEvents),
    listRuns: operation(parts, 'listRuns', listRuns),
    listArtifacts: operation(parts, 'listArtifacts', listArtifacts),
    readArtifact: operation(parts, 'readArtifact', readArtifact),
    resumeTask: operation(parts, 'resumeTask', resumeTask),
  };
}
