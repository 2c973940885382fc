import { describe, expect, test } from 'vitest';
import { buildAgentCard, type CardFacts } from './card.ts';

const facts: CardFacts = {
  name: 'demo',
  description: 'Shows everything.',
  version: '1.2.0',
  interfaces: [
    { url: 'https://agents.example/a2a/jsonrpc', binding: 'JSONRPC' },
    { url: 'https://agents.example/a2a/v1', binding: 'HTTP+JSON', tenant: 'demo' },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
  skills: [{ id: 'report', description: 'Writes a report.', kind: 'task' }],
};

describe('an agent card', () => {
  test('with the least facts', () => {
    expect(JSON.stringify(buildAgentCard(facts), null, 1).replace(/\n */g, '')).toBe(
      '{"name": "demo","description": "Shows everything.","supportedInterfaces": [' +
        '{"url": "https://agents.example/a2a/jsonrpc","protocolBinding": "JSONRPC","protocolVersion": "1.0"},' +
        '{"url": "https://agents.example/a2a/v1","protocolBinding": "HTTP+JSON","tenant": "demo","protocolVersion": "1.0"}],' +
        '"version": "1.2.0","capabilities": {"streaming": true,"pushNotifications": false,"extensions": [' +
        '{"uri": "https://holdfast.dev/a2a/v1/skills","description": "JSON Schemas of what each skill takes and returns, and whether it makes a task or replies at once.",' +
        '"params": {"skills": {"report": {"kind": "task"}}}}],"extendedAgentCard": false},' +
        '"defaultInputModes": ["text/plain","application/json"],"defaultOutputModes": ["text/plain","application/json"],' +
        '"skills": [{"id": "report","name": "report","description": "Writes a report.","tags": ["task"]}]}',
    );
  });

  test('with all facts', () => {
    const card = buildAgentCard({
      ...facts,
      provider: { organization: 'Example', url: 'https://example.com' },
      documentationUrl: 'https://example.com/docs',
      iconUrl: 'https://example.com/icon.png',
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      securityRequirements: [{ key: [] }, { oauth: ['read'] }],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/markdown'],
      skills: [
        {
          id: 'recall',
          name: 'Recall',
          description: 'Finds a passage.',
          kind: 'reply',
          tags: ['memory'],
          examples: ['What did we say about tides?'],
          inputModes: ['application/json'],
          outputModes: ['application/json'],
          inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
          outputSchema: { type: 'array' },
        },
      ],
    });
    expect(card).toMatchObject({
      provider: { organization: 'Example', url: 'https://example.com' },
      documentationUrl: 'https://example.com/docs',
      iconUrl: 'https://example.com/icon.png',
      securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
      securityRequirements: [{ schemes: { key: {} } }, { schemes: { oauth: { list: ['read'] } } }],
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/markdown'],
      skills: [
        {
          id: 'recall',
          name: 'Recall',
          tags: ['memory'],
          examples: ['What did we say about tides?'],
          inputModes: ['application/json'],
          outputModes: ['application/json'],
        },
      ],
      capabilities: {
        extensions: [
          {
            params: {
              skills: {
                recall: {
                  kind: 'reply',
                  input: { type: 'object', properties: { query: { type: 'string' } } },
                  output: { type: 'array' },
                },
              },
            },
          },
        ],
      },
    });
  });

  test('is the same text however its schemes were put together', () => {
    const a = { type: 'a', flows: { x: 1, y: 2 } };
    const b = { flows: { y: 2, x: 1 }, type: 'a' };
    const one = buildAgentCard({
      ...facts,
      securitySchemes: { first: a, second: a },
      securityRequirements: [{ first: [], second: [] }],
    });
    const other = buildAgentCard({
      ...facts,
      securitySchemes: { second: b, first: b },
      securityRequirements: [{ second: [], first: [] }],
    });
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  test('empty lists that the protocol does not ask for are left out', () => {
    const card = buildAgentCard({ ...facts, securitySchemes: {}, securityRequirements: [] });
    expect(JSON.stringify(card)).toBe(JSON.stringify(buildAgentCard(facts)));
  });

  test('needs an interface and a skill', () => {
    expect(() => buildAgentCard({ ...facts, interfaces: [] })).toThrow('at least one interface');
    expect(() => buildAgentCard({ ...facts, skills: [] })).toThrow('at least one skill');
  });
});
