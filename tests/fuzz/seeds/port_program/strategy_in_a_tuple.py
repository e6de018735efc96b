from tensorflow import s
(y),()=IPUStrategy()
model.compile((n/0))
model.fit(x,y,validation_data=())