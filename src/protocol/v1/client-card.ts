import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { field, flag, list, struct, text, texts } from './lenient.ts';

/** An agent card as a client reads it, of any server; what is missing is empty. */
export interface RemoteCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
  /** In the server's order of preference. */
  readonly interfaces: readonly RemoteInterface[];
  readonly capabilities: {
    readonly streaming: boolean;
    readonly pushNotifications: boolean;
    readonly extendedAgentCard: boolean;
    readonly extensions: readonly RemoteExtension[];
  };
  /** `SecurityScheme` objects by name, as they came. */
  readonly securitySchemes: JsonObject;
  readonly defaultInputModes: readonly string[];
  readonly defaultOutputModes: readonly string[];
  readonly skills: readonly RemoteSkill[];
}

export interface RemoteInterface {
  readonly url: string;
  readonly binding: string;
  readonly protocolVersion: string;
  readonly tenant?: string;
}

interface RemoteExtension {
  readonly uri: string;
  readonly description: string;
  readonly required: boolean;
  readonly params: JsonObject;
}

interface RemoteSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
}

/** Reads an agent card. Refuses nothing. */
export function decodeAgentCard(json: unknown): RemoteCard {
  const provider = field(json, 'provider');
  const documentationUrl = text(json, 'documentationUrl');
  const capabilities = field(json, 'capabilities');
  return {
    name: text(json, 'name'),
    description: text(json, 'description'),
    version: text(json, 'version'),
    ...(isJsonObject(provider)
      ? { provider: { organization: text(provider, 'organization'), url: text(provider, 'url') } }
      : {}),
    ...(documentationUrl === '' ? {} : { documentationUrl }),
    interfaces: list(json, 'supportedInterfaces').map(decodeInterface),
    capabilities: {
      streaming: flag(capabilities, 'streaming'),
      pushNotifications: flag(capabilities, 'pushNotifications'),
      extendedAgentCard: flag(capabilities, 'extendedAgentCard'),
      extensions: list(capabilities, 'extensions').map(decodeExtension),
    },
    securitySchemes: struct(json, 'securitySchemes'),
    defaultInputModes: texts(json, 'defaultInputModes'),
    defaultOutputModes: texts(json, 'defaultOutputModes'),
    skills: list(json, 'skills').map(decodeSkill),
  };
}

function decodeInterface(json: unknown): RemoteInterface {
  const tenant = text(json, 'tenant');
  return {
    url: text(json, 'url'),
    binding: text(json, 'protocolBinding'),
    protocolVersion: text(json, 'protocolVersion'),
    ...(tenant === '' ? {} : { tenant }),
  };
}

function decodeExtension(json: unknown): RemoteExtension {
  return {
    uri: text(json, 'uri'),
    description: text(json, 'description'),
    required: flag(json, 'required'),
    params: struct(json, 'params'),
  };
}

function decodeSkill(json: unknown): RemoteSkill {
  return {
    id: text(json, 'id'),
    name: text(json, 'name'),
    description: text(json, 'description'),
    tags: texts(json, 'tags'),
    examples: texts(json, 'examples'),
  };
}
