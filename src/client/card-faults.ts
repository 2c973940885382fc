import { isJsonObject } from '../base/json.ts';

type Kind = 'text' | 'list' | 'object';

/** The REQUIRED fields of A2A 1.0 §4.4. */
const REQUIRED: Readonly<Record<string, Kind>> = {
  name: 'text',
  description: 'text',
  version: 'text',
  supportedInterfaces: 'list',
  capabilities: 'object',
  defaultInputModes: 'list',
  defaultOutputModes: 'list',
  skills: 'list',
};
const REQUIRED_OF_INTERFACE: Readonly<Record<string, Kind>> = {
  url: 'text',
  protocolBinding: 'text',
  protocolVersion: 'text',
};
const REQUIRED_OF_SKILL: Readonly<Record<string, Kind>> = {
  id: 'text',
  name: 'text',
  description: 'text',
  tags: 'list',
};

/** What is wrong with a card by A2A's schema, a line each; empty for a valid one. */
export function cardFaults(json: unknown): readonly string[] {
  if (!isJsonObject(json)) return ['the card is not a JSON object'];
  return [
    ...missing(json, REQUIRED, ''),
    ...itemFaults(json.supportedInterfaces, REQUIRED_OF_INTERFACE, 'supportedInterfaces'),
    ...itemFaults(json.skills, REQUIRED_OF_SKILL, 'skills'),
    ...urlFaults(json.supportedInterfaces),
  ];
}

function missing(object: unknown, required: Readonly<Record<string, Kind>>, path: string): readonly string[] {
  if (!isJsonObject(object)) return [`${path.replace(/\.$/, '')} must be an object`];
  return Object.entries(required).flatMap(([name, kind]) => {
    const value = object[name];
    if (value === undefined) return [`${path}${name} is missing`];
    const fits =
      kind === 'text' ? typeof value === 'string' : kind === 'list' ? Array.isArray(value) : isJsonObject(value);
    return fits
      ? []
      : [`${path}${name} must be ${kind === 'text' ? 'text' : kind === 'list' ? 'a list' : 'an object'}`];
  });
}

function itemFaults(items: unknown, required: Readonly<Record<string, Kind>>, name: string): readonly string[] {
  if (!Array.isArray(items)) return [];
  if (items.length === 0 && name === 'supportedInterfaces') return [`${name} must not be empty`];
  return items.flatMap((item, index) => missing(item, required, `${name}[${index}].`));
}

function urlFaults(interfaces: unknown): readonly string[] {
  if (!Array.isArray(interfaces)) return [];
  return interfaces.flatMap((item, index) => {
    const url: unknown = isJsonObject(item) ? item.url : undefined;
    const isAbsolute = typeof url !== 'string' || URL.canParse(url) || isJsonObject(item) === false;
    const isGrpc = isJsonObject(item) && item.protocolBinding === 'GRPC';
    return isAbsolute || isGrpc ? [] : [`supportedInterfaces[${index}].url must be an absolute URL`];
  });
}
