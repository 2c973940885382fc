import { limits } from '../base/limits.ts';
import { isAgentName } from '../model/ids.ts';
import type { AgentPolicy } from '../model/task-policy.ts';
import { type Agent, type AgentFacts, type AnySkill, type PolicyOptions, skill, type TaskSkill } from './definition.ts';
import { AgentCodeError } from './errors.ts';

type RunText = TaskSkill<undefined, undefined>['run'];

/** The skill of an agent that was defined with `run` alone. */
export const ONLY_SKILL = 'default';
const SKILL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Makes an agent from a handler, or from named skills. Throws `AgentCodeError` where the definition itself is wrong,
 * so a server never starts with half an agent.
 */
export function defineAgent<const Skills extends Readonly<Record<string, AnySkill>>>(
  options: AgentFacts & { readonly skills: Skills; readonly run?: never },
): Agent<Skills>;
export function defineAgent(
  options: AgentFacts & { readonly run: RunText; readonly skills?: never },
): Agent<{ readonly [ONLY_SKILL]: TaskSkill<undefined, undefined> }>;
export function defineAgent(
  options: AgentFacts & { readonly skills?: Readonly<Record<string, AnySkill>>; readonly run?: RunText },
): Agent {
  if (!isAgentName(options.name)) {
    throw new AgentCodeError(
      'agent-name',
      `"${options.name}" is no agent name: use 1 to 63 of a-z, 0-9 and "-", and not "tasks".`,
    );
  }
  const { run, skills, ...facts } = options;
  const all = skills ?? (run === undefined ? {} : { [ONLY_SKILL]: skill({ description: options.description, run }) });
  for (const id of Object.keys(all)) {
    if (!SKILL_ID.test(id))
      throw new AgentCodeError('skill-id', `"${id}" is no skill id: use letters, digits, ".", "_" and "-".`);
  }
  if (Object.keys(all).length === 0)
    throw new AgentCodeError('agent-without-skills', `Agent "${options.name}" has no skills and no run.`);
  return { ...facts, version: options.version ?? '0', skills: all };
}

/** The policy of one skill: its own words, then the agent's, then the defaults. */
export function policyOf(
  agent: Agent,
  skillId: string,
): AgentPolicy & {
  readonly idempotency: 'messageId' | 'off';
  readonly storeContent: boolean;
  readonly perSessionMax: number | undefined;
} {
  const merged: PolicyOptions = { ...agent.policy, ...agent.skills[skillId]?.policy };
  return {
    whenBusy: merged.whenBusy ?? 'reject',
    cancel: merged.cancel ?? 'any',
    onCrash: merged.onCrash ?? 'retry',
    onError: merged.onError ?? 'fail',
    crashesMax: merged.crashesMax ?? limits.crashesMax,
    idempotency: merged.idempotency ?? 'messageId',
    storeContent: merged.storeContent ?? true,
    perSessionMax: merged.concurrency?.perSession,
  };
}
