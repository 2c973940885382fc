import { create, createFileRegistry, type DescMessage } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
} from '@bufbuild/protobuf/wkt';

/**
 * The messages of `a2a.proto` (A2A 1.0) that our codec reads and writes, as protobuf descriptors: one line a field,
 * `[repeated|optional|oneof:NAME] TYPE name = number`. A protobuf library judges by it what our own codec does.
 */
const messages: Readonly<Record<string, readonly string[]>> = {
  SendMessageRequest: [
    'string tenant = 1',
    'Message message = 2',
    'SendMessageConfiguration configuration = 3',
    'Struct metadata = 4',
  ],
  SendMessageConfiguration: [
    'repeated string accepted_output_modes = 1',
    'TaskPushNotificationConfig task_push_notification_config = 2',
    'optional int32 history_length = 3',
    'bool return_immediately = 4',
  ],
  TaskPushNotificationConfig: [
    'string tenant = 1',
    'string id = 2',
    'string task_id = 3',
    'string url = 4',
    'string token = 5',
    'AuthenticationInfo authentication = 6',
  ],
  AuthenticationInfo: ['string scheme = 1', 'string credentials = 2'],
  Message: [
    'string message_id = 1',
    'string context_id = 2',
    'string task_id = 3',
    'Role role = 4',
    'repeated Part parts = 5',
    'Struct metadata = 6',
    'repeated string extensions = 7',
    'repeated string reference_task_ids = 8',
  ],
  Part: [
    'oneof:content string text = 1',
    'oneof:content bytes raw = 2',
    'oneof:content string url = 3',
    'oneof:content Value data = 4',
    'Struct metadata = 5',
    'string filename = 6',
    'string media_type = 7',
  ],
  ListTasksRequest: [
    'string tenant = 1',
    'string context_id = 2',
    'TaskState status = 3',
    'optional int32 page_size = 4',
    'string page_token = 5',
    'optional int32 history_length = 6',
    'Timestamp status_timestamp_after = 7',
    'optional bool include_artifacts = 8',
  ],
  Task: [
    'string id = 1',
    'string context_id = 2',
    'TaskStatus status = 3',
    'repeated Artifact artifacts = 4',
    'repeated Message history = 5',
    'Struct metadata = 6',
  ],
  TaskStatus: ['TaskState state = 1', 'Message message = 2', 'Timestamp timestamp = 3'],
  Artifact: [
    'string artifact_id = 1',
    'string name = 2',
    'string description = 3',
    'repeated Part parts = 4',
    'Struct metadata = 5',
    'repeated string extensions = 6',
  ],
  TaskStatusUpdateEvent: [
    'string task_id = 1',
    'string context_id = 2',
    'TaskStatus status = 3',
    'Struct metadata = 4',
  ],
  TaskArtifactUpdateEvent: [
    'string task_id = 1',
    'string context_id = 2',
    'Artifact artifact = 3',
    'bool append = 4',
    'bool last_chunk = 5',
    'Struct metadata = 6',
  ],
  StreamResponse: [
    'oneof:payload Task task = 1',
    'oneof:payload Message message = 2',
    'oneof:payload TaskStatusUpdateEvent status_update = 3',
    'oneof:payload TaskArtifactUpdateEvent artifact_update = 4',
  ],
};

const enums: Readonly<Record<string, readonly string[]>> = {
  Role: ['ROLE_UNSPECIFIED', 'ROLE_USER', 'ROLE_AGENT'],
  TaskState: [
    'TASK_STATE_UNSPECIFIED',
    'TASK_STATE_SUBMITTED',
    'TASK_STATE_WORKING',
    'TASK_STATE_COMPLETED',
    'TASK_STATE_FAILED',
    'TASK_STATE_CANCELED',
    'TASK_STATE_INPUT_REQUIRED',
    'TASK_STATE_REJECTED',
    'TASK_STATE_AUTH_REQUIRED',
  ],
};

const PACKAGE = 'lf.a2a.v1';
const scalars: Readonly<Record<string, FieldDescriptorProto_Type>> = {
  string: FieldDescriptorProto_Type.STRING,
  bytes: FieldDescriptorProto_Type.BYTES,
  bool: FieldDescriptorProto_Type.BOOL,
  int32: FieldDescriptorProto_Type.INT32,
};

interface FieldLine {
  readonly label: string;
  readonly type: string;
  readonly name: string;
  readonly number: number;
}

function parseField(line: string): FieldLine {
  const match = /^(?:(repeated|optional|oneof:\w+) )?(\w+) (\w+) = (\d+)$/.exec(line);
  if (match === null) throw new Error(`not a field: ${line}`);
  return { label: match[1] ?? '', type: match[2]!, name: match[3]!, number: Number(match[4]) };
}

/** A oneof of one's own for each `optional` field is how proto3 says that its presence is kept. */
function buildMessage(name: string, lines: readonly string[]) {
  const fields = lines.map(parseField);
  const real = [...new Set(fields.flatMap(({ label }) => (label.startsWith('oneof:') ? [label.slice(6)] : [])))];
  const synthetic = fields.flatMap((field) => (field.label === 'optional' ? [`_${field.name}`] : []));
  const oneofs = [...real, ...synthetic];
  const field = fields.map((line) => buildField(line, oneofs));
  return { name, field, oneofDecl: oneofs.map((oneof) => ({ name: oneof })) };
}

function buildField(line: FieldLine, oneofs: readonly string[]) {
  const { label, type, name, number } = line;
  const oneof = oneofs.indexOf(label.startsWith('oneof:') ? label.slice(6) : `_${name}`);
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    jsonName: name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    label: label === 'repeated' ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
    ...typeOf(type),
    ...(label === 'optional' ? { proto3Optional: true } : {}),
    ...(oneof < 0 ? {} : { oneofIndex: oneof }),
  });
}

function typeOf(type: string): { readonly type: FieldDescriptorProto_Type; readonly typeName?: string } {
  const scalar = scalars[type];
  if (scalar !== undefined) return { type: scalar };
  if (enums[type] !== undefined) return { type: FieldDescriptorProto_Type.ENUM, typeName: `.${PACKAGE}.${type}` };
  const home = messages[type] === undefined ? 'google.protobuf' : PACKAGE;
  return { type: FieldDescriptorProto_Type.MESSAGE, typeName: `.${home}.${type}` };
}

const wellKnown = [file_google_protobuf_struct, file_google_protobuf_timestamp];

const file = create(FileDescriptorProtoSchema, {
  name: 'a2a.proto',
  package: PACKAGE,
  syntax: 'proto3',
  dependency: wellKnown.map(({ proto }) => proto.name),
  messageType: Object.entries(messages).map(([name, lines]) => buildMessage(name, lines)),
  enumType: Object.entries(enums).map(([name, values]) => ({
    name,
    value: values.map((value, number) => ({ name: value, number })),
  })),
});

const registry = createFileRegistry(file, (name) => wellKnown.find(({ proto }) => proto.name === name));

/** The descriptor of a message of `a2a.proto`. */
export function a2aMessage(name: keyof typeof messages): DescMessage {
  const descriptor = registry.getMessage(`${PACKAGE}.${name}`);
  if (descriptor === undefined) throw new Error(`no message ${name}`);
  return descriptor;
}

/** The names of an enum of `a2a.proto`. */
export function a2aEnumNames(name: keyof typeof enums): readonly string[] {
  return enums[name] ?? [];
}
