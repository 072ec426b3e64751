def tour_record(model,task,map): return []
