/** What is reported of an operation while it is under way, and when it is over. */
import { z } from 'zod';
import { ENVIRONMENT_CONTRACT } from '../../services/environments/operation.ts';
import { finalReceiptSchema } from '../../services/environments/receipts.ts';
import { jsonSchema } from './messages.ts';

/** An event of an extension, by its fields. */
export const emitFields = {
  type: z.string().meta({ description: 'Two or more words with dots between, the first one of your own, such as `shop.order_placed`.' }),
  data: jsonSchema,
};

/** How far it has come, by its fields. */
export const progressFields = {
  message: z.string().meta({ description: 'What is being done, in a line.' }).exactOptional(),
  fraction: z.number().min(0).max(1).meta({ description: 'How much of it is done.' }).exactOptional(),
};

export const resultReportBody = z
  .strictObject({
    contract: z.literal(ENVIRONMENT_CONTRACT).exactOptional(),
    sequence: z.int().meta({ description: 'Of the operation, as its address has it.' }).exactOptional(),
    receipt: finalReceiptSchema,
  })
  .meta({ id: 'ResultReport' });

export const emitReportBody = z.strictObject(emitFields).meta({ id: 'EmitReport' });

export const progressReportBody = z.strictObject(progressFields).meta({ id: 'ProgressReport' });
