import { describe, expect, test } from 'vitest';
import { environmentName, readConfig } from './config.ts';

describe('settings', () => {
  test('have defaults', () => {
    expect(readConfig(undefined)).toEqual({
      allowAnonymous: false,
      cors: 'none',
      logLevel: 'info',
      drainMaxSecs: 10,
      runs: {
        concurrency: 100,
        idleMaxSecs: 3600,
        totalMaxSecs: 0,
        interruptedMaxDays: 30,
        queuedMaxSecs: 3600,
        leaseSecs: 30,
        sweepSecs: 5,
        cancelGraceSecs: 2,
      },
      a2a: { sendWaitMaxSecs: 300, subscribePollSecs: 1, streamEndsAtInputRequired: true, replyRetentionHours: 24 },
    });
  });

  test('are written in camelCase and snake_case', () => {
    const config = readConfig({ a2a: { subscribe_poll_secs: 0.2 }, default_agent: 'x', runs: { leaseSecs: 1 } });
    expect([config.a2a.subscribePollSecs, config.defaultAgent, config.runs.leaseSecs]).toEqual([0.2, 'x', 1]);
    expect(config.a2a.sendWaitMaxSecs).toBe(300);
  });

  test('stand in the environment too; what was given wins, key by key', () => {
    const env = {
      HOLDFAST_A2A_SUBSCRIBE_POLL_SECS: '2',
      HOLDFAST_A2A_STREAM_ENDS_AT_INPUT_REQUIRED: 'false',
      HOLDFAST_PORT: '4100',
      HOLDFAST_STORE: 'sqlite:data.db',
      HOLDFAST_DEFAULT_AGENT: '007',
      HOLDFAST_CORS: 'https://a.example, https://b.example',
      HOLDFAST_HOST: '',
    };
    const config = readConfig({ a2a: { subscribePollSecs: 3 } }, env);
    expect(config.a2a).toMatchObject({ subscribePollSecs: 3, streamEndsAtInputRequired: false });
    expect(config).toMatchObject({ port: 4100, store: 'sqlite:data.db', defaultAgent: '007' });
    expect(config.cors).toEqual(['https://a.example', 'https://b.example']);
    expect(config.host).toBeUndefined();
    expect(readConfig({}, { HOLDFAST_CORS: 'localhost' }).cors).toBe('localhost');
  });

  test('have names in the environment that can be told', () => {
    expect(environmentName(['runs', 'idleMaxSecs'])).toBe('HOLDFAST_RUNS_IDLE_MAX_SECS');
    expect(environmentName(['a2a', 'sendWaitMaxSecs'])).toBe('HOLDFAST_A2A_SEND_WAIT_MAX_SECS');
  });
});

test.each([
  [{ runs: { leaseSecs: 0 } }, {}, 'runs.leaseSecs'],
  [{ runs: { leaseSecs: '30' } }, {}, 'runs.leaseSecs'],
  [{ runs: { idleMax: 1 } }, {}, 'there is no setting runs.idleMax'],
  [{ nothing: 1 }, {}, 'there is no setting nothing'],
  [{ runs: 7 }, {}, 'runs'],
  [{ port: 70_000 }, {}, 'port'],
  [{ publicUrl: 'ftp://x' }, {}, 'publicUrl'],
  [{}, { HOLDFAST_RUNS_SWEEP_SECS: 'soon' }, 'runs.sweepSecs'],
  [{}, { HOLDFAST_PORT: '-1' }, 'port'],
  ['text', {}, 'the settings'],
])('%j with %j is one line that names %s', (given, env, named) => {
  expect(() => readConfig(given, env as Record<string, string>)).toThrow(/^Configuration: [^\n]+\.$/);
  expect(() => readConfig(given, env as Record<string, string>)).toThrow(named);
});
