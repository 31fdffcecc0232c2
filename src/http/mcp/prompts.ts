import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { faultOf } from '../../contract/faults.ts'
import type { Exchange } from './tool.ts'

type Prompt = {
  name: string
  title: string
  description: string
  /** Arguments with their descriptions. */
  args: Readonly<Record<string, string>>
  text(args: Readonly<Record<string, string>>): string
}

const kb = 'Slug of the knowledge base.'

const reading: Prompt = {
  ...{ name: 'answer', title: 'Answer from a knowledge base' },
  description: 'Answers a question only from a knowledge base, with citations.',
  args: { kb, question: 'What is asked.' },
  text: ({ kb, question }) =>
    `Answer this question from the knowledge base ${kb} alone: ${question}\n\nUse retrieve first, and read_neuron where a passage is not ` +
    'enough. Cite each page that you use by its seqId in brackets. If the knowledge base does not have the answer, say so.',
}

const proposing: Prompt = {
  ...{ name: 'improve', title: 'Propose a better page' },
  description: 'Reads a page, and proposes a correction of it.',
  args: { kb, seqId: 'seqId of the page, such as handbook_00000042.', change: 'What shall be different.' },
  text: ({ kb, seqId, change }) =>
    `In the knowledge base ${kb}, read ${seqId} with read_neuron. Write its whole text anew with this change and no other: ${change}\n\n` +
    'Call propose with the action `correction`, the version that you read as `baseVersion`, and `preview`. Show the change and the verdict ' +
    'to me, and propose it without `preview` only once I agree.',
}

/** Adds the prompts that people choose in their client. */
export function addPrompts(server: McpServer, { caller }: Exchange): void {
  for (const { name, title, description, args, text } of caller.role === 'reader' ? [reading] : [reading, proposing]) {
    const shape = Object.entries(args).map(([argument, meaning]) => [
      argument,
      z.string({ error: faultOf }).min(1).describe(meaning),
    ])
    const argsSchema = z.object(Object.fromEntries(shape))
    server.registerPrompt(name, { title, description, argsSchema }, (given) => ({
      messages: [
        { role: 'user', content: { type: 'text', text: text(z.record(z.string(), z.string()).parse(given)) } },
      ],
    }))
  }
}
