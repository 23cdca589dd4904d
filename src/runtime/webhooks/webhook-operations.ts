import { ServiceError } from '../../core/errors.ts'
import type { AdminOperations } from '../../http/admin/operations.ts'
import type { Webhooks } from '../../webhooks/webhooks.ts'
import { iso } from '../fleet/times.ts'

export type WebhookOperations = Pick<AdminOperations, 'webhooks' | 'testWebhook'>

/** What admins can ask of the receivers of a running service. */
export function createWebhookOperations({ list, test }: Pick<Webhooks, 'list' | 'test'>): WebhookOperations {
  return {
    webhooks: async () =>
      list().map(({ lastDeliveredAt, ...webhook }) => ({
        ...webhook,
        ...(lastDeliveredAt !== undefined && { lastDeliveredAt: iso(lastDeliveredAt) }),
      })),
    async testWebhook(name) {
      const { isDelivered, ...answer } = await test(name)
      return answer.kind === 'status'
        ? { isDelivered, status: answer.status }
        : { isDelivered, problem: answer.why }
    },
  }
}

/** Where no service runs nobody is told anything. */
export const noWebhooks: WebhookOperations = {
  webhooks: async () => [],
  async testWebhook() {
    throw new ServiceError(
      'SERVICE_UNAVAILABLE',
      'no service runs on this data directory, so nobody is told anything',
      {
        hint: 'start it (pilotlight serve), then try again',
      },
    )
  },
}
