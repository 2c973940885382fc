import { CodedError } from '../../base/errors.ts';
import type { Method, Resource } from './route-table.ts';

/** The value of `Allow`: GET brings HEAD, and OPTIONS is answered everywhere. */
export function allowOf(resource: Resource<unknown>): string {
  const methods = Object.keys(resource.methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}

/** What a resource does on a method. Throws `method_not_allowed`, which names those it takes. */
export function routeOf<Route>(resource: Resource<Route>, method: string): Route {
  const route = resource.methods[(method === 'HEAD' ? 'GET' : method) as Method];
  if (route !== undefined) return route;
  const allow = allowOf(resource);
  throw new CodedError('method_not_allowed', {
    message: `${resource.path} does not take ${method.slice(0, 16)}. It takes ${allow}.`,
    metadata: { allow },
  });
}

export function routeNotFound(path: string): CodedError {
  return new CodedError('route_not_found', {
    message: `There is nothing at ${path.slice(0, 200)}. The doors of this server stand in /openapi.json.`,
  });
}
