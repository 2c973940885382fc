import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { kindWord, textTarget } from '../model/flat-schema.ts';
import type { Message } from '../model/message.ts';

/** The words of `send` that answer a question: a text where one can, else the data that it wants, to be filled in. */
export function replyForm(question: Message | undefined): string {
  const schema = schemaOf(question);
  if (schema === undefined || textTarget(schema) !== undefined) return '"<reply>"';
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const names = Object.keys(properties).filter((name) => required.length === 0 || required.includes(name));
  const fields = names.map((name) => `${JSON.stringify(name)}: ${blank(properties[name])}`);
  return `--data ${quoted(`{${fields.join(', ')}}`)}`;
}

function schemaOf(question: Message | undefined): JsonObject | undefined {
  for (const part of question?.parts ?? []) {
    if (part.kind !== 'data' || !isJsonObject(part.data) || !isJsonObject(part.data.schema)) continue;
    return part.data.schema;
  }
  return undefined;
}

/** What stands where the value goes; a text has its quotes already. */
function blank(schema: Json | undefined): string {
  const isText = isJsonObject(schema) && schema.type === 'string' && !Array.isArray(schema.enum);
  return isText ? '"<text>"' : `<${kindWord(schema)}>`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
