import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { RemoteCard } from '../protocol/v1/client-card.ts';
import { field } from './render-text.ts';

/** An agent card for people. */
export function renderCard(card: RemoteCard, json: Json, verbose: boolean): string {
  const { streaming, pushNotifications, extendedAgentCard } = card.capabilities;
  const signatures = isJsonObject(json) && Array.isArray(json.signatures) ? json.signatures.length : 0;
  return [
    field('Name', card.name),
    field('Description', card.description),
    field('Version', card.version),
    card.provider === undefined ? '' : field('Provider', `${card.provider.organization} ${card.provider.url}`),
    card.documentationUrl === undefined ? '' : field('Documentation', card.documentationUrl),
    ...card.interfaces.map(({ binding, protocolVersion, url, tenant }) =>
      field('Interface', `${binding} ${protocolVersion} ${url}${tenant === undefined ? '' : ` (tenant ${tenant})`}`),
    ),
    field('Streaming', yesNo(streaming)),
    field('Push notifications', yesNo(pushNotifications)),
    field('Extended card', yesNo(extendedAgentCard)),
    ...card.capabilities.extensions.map(({ uri, required }) =>
      field('Extension', required ? `${uri} (required)` : uri),
    ),
    renderSchemes(card.securitySchemes),
    field('Signature', signatures === 0 ? 'absent' : 'present, not verified'),
    field('Input modes', card.defaultInputModes.join(', ')),
    field('Output modes', card.defaultOutputModes.join(', ')),
    ...card.skills.flatMap(({ id, name, description, examples, tags }) => [
      field('Skill', `${id} – ${name === id ? '' : `${name}: `}${description}`),
      verbose && tags.length > 0 ? field('Tags', tags.join(', ')) : '',
      ...examples.map((example) => field('Example', example)),
    ]),
  ].join('');
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

function renderSchemes(schemes: JsonObject): string {
  const entries = Object.entries(schemes);
  if (entries.length === 0) return field('Security', 'none');
  return entries
    .map(([name, scheme]) =>
      field('Security', `${name} (${isJsonObject(scheme) ? Object.keys(scheme).join(', ') : '?'})`),
    )
    .join('');
}
