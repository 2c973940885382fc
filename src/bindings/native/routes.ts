import { type Resource, RouteTable } from '../http/route-table.ts';
import { agentsRoute } from './agent-route.ts';
import { artifactRoute, artifactsRoute, eventsRoute, runsRoute } from './log-routes.ts';
import type { NativeRoute } from './route.ts';
import {
  abortSessionRoute,
  listSessionsRoute,
  openSessionRoute,
  readSessionRoute,
  sendInSessionRoute,
} from './session-routes.ts';
import { cancelTaskRoute, createTaskRoute, listTasksRoute, readTaskRoute, resumeTaskRoute } from './task-routes.ts';

const resources: readonly Resource<NativeRoute>[] = [
  { path: '/sessions', methods: { GET: listSessionsRoute, POST: openSessionRoute } },
  { path: '/sessions/{sessionId}', methods: { GET: readSessionRoute } },
  { path: '/sessions/{sessionId}/messages', methods: { POST: sendInSessionRoute } },
  { path: '/sessions/{sessionId}/abort', methods: { POST: abortSessionRoute } },
  { path: '/tasks', methods: { GET: listTasksRoute, POST: createTaskRoute } },
  { path: '/tasks/{taskId}', methods: { GET: readTaskRoute } },
  { path: '/tasks/{taskId}/events', methods: { GET: eventsRoute } },
  { path: '/tasks/{taskId}/runs', methods: { GET: runsRoute } },
  { path: '/tasks/{taskId}/artifacts', methods: { GET: artifactsRoute } },
  { path: '/tasks/{taskId}/artifacts/{artifactId}', methods: { GET: artifactRoute } },
  { path: '/tasks/{taskId}/cancel', methods: { POST: cancelTaskRoute } },
  { path: '/tasks/{taskId}/resume', methods: { POST: resumeTaskRoute } },
  { path: '/agents', methods: { GET: agentsRoute } },
];

/** The native API below `/v1`. */
export const nativeRoutes = new RouteTable(resources);
